import type { SequenceState } from '../../engine/sequence-state.ts';
import type { BlockContext } from './gather-blocks.ts';

/** Tokens whose probabilities are read at once: an engine may hold a whole distribution of each. */
const TOKENS_AT_ONCE = 16;

/** −ln p of the tokens of blocks; they go with the block's cells in memory, and so are found as long as these are. */
const known = new WeakMap<SequenceState, Float64Array>();

/** Scores of blocks, and what was evaluated for those that had none. */
export interface ScoredBlocks {
  /** [block][token] */
  readonly scores: readonly Float64Array[];
  readonly evaluatedTokens: number;
}

/**
 * The surprise of each token of blocks, −ln p in nats: given the header and what precedes it in its own block. It depends on
 * nothing else, so that a block is scored once.
 * @param header the cells of the header
 */
export async function scoreBlocks(
  context: Pick<BlockContext, 'engine' | 'session' | 'kv' | 'signal'>,
  header: SequenceState,
  blocks: readonly SequenceState[],
): Promise<ScoredBlocks> {
  const scores: Float64Array[] = [];
  let evaluatedTokens = 0;
  for (const block of blocks) {
    const found = known.get(block);
    const scored = found ?? (await scoreBlock(context, header, block));
    if (found === undefined) evaluatedTokens += evaluatedFor(context, block);
    known.set(block, scored);
    scores.push(scored);
  }
  return { scores, evaluatedTokens };
}

/** Each piece is scored behind the tokens in front of it, as many as the engine takes at least. */
async function scoreBlock(
  { engine, session, kv, signal }: Pick<BlockContext, 'engine' | 'session' | 'kv' | 'signal'>,
  header: SequenceState,
  { tokenIds }: SequenceState,
): Promise<Float64Array> {
  const { leastTokens } = engine.capabilities;
  const ids = [...header.tokenIds, ...tokenIds];
  const scores: number[] = [];
  for (let at = header.tokenIds.length; at < ids.length; at += TOKENS_AT_ONCE) {
    const front = at - leastTokens;
    if (scores.length > 0) await session.truncate(front, { signal });
    else if (front === 0) await session.clear({ signal });
    else await session.importCells(kv.cut(header, 0, front), { signal });
    const piece = ids.slice(at, at + TOKENS_AT_ONCE);
    const { logProbabilities } = await session.score(ids.slice(front, at), piece, { signal });
    scores.push(...logProbabilities.map((logProbability) => -logProbability));
  }
  return Float64Array.from(scores);
}

/** Of each piece, the tokens in front of it and its own but the last. */
function evaluatedFor({ engine }: Pick<BlockContext, 'engine'>, { tokenIds: { length } }: SequenceState): number {
  const { leastTokens } = engine.capabilities;
  return length + Math.ceil(length / TOKENS_AT_ONCE) * (leastTokens - 1);
}
