import { BenchError } from '../../../base/bench-error.ts';
import { TemporaryFolder } from '../../../base/temporary-folder.ts';
import { lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { commonLength, type TokenId } from '../../../engine/token-id.ts';
import { kvOperations } from '../../../kv/kv-operations.ts';
import { KvStore } from '../../../kv/kv-disk-store.ts';
import { type BlockContext, gatherBlocks, type GatheredBlocks } from '../../../systems/prefill/gather-blocks.ts';
import type { JoinRecipe } from '../../../systems/prefill/join-recipe.ts';
import { joinAndRecompute } from '../../../systems/prefill/join-and-recompute.ts';
import { cutPrefix, exportPrefix, joinPrefix } from '../../../systems/prefill/prefix-cell-storage.ts';
import { splitSequence, type StoredInjection, type StoredSequence } from './stored-sequence.ts';

/** As much KV as a run keeps by default. */
const STORE_BYTES = 256 * 2 ** 20;

/** Brings a session to where the answer of a stored turn began, with all memories or without one of them. */
export interface TurnReplay extends AsyncDisposable {
  /** `blocks`: the KV block of the memory is not joined; `text`: the prompt is evaluated again without the memory's line. */
  readonly method: 'text' | 'blocks';
  /** @returns the tokens that are still to be evaluated @throws BenchError `not-reproduced` */
  begin(leftOut?: string): Promise<readonly TokenId[]>;
}

/** Opens the replay for a turn: of blocks if it injected blocks, else of text. */
export async function openReplay(turn: StoredSequence, engine: Engine, session: EngineSession): Promise<TurnReplay> {
  const { injection } = turn;
  if (injection !== null && injection.recipe !== null) {
    return blocksReplay(turn, { ...injection, recipe: injection.recipe }, engine, session);
  }
  return {
    method: 'text',
    begin: (leftOut) =>
      injection === null || injectsText(injection)
        ? beginText(turn, leftOut, engine, session)
        : beginPrefix(splitSequence(turn, leftOut), injection, engine, session),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** True if the turn's KV is that of its text: nothing is injected, or one prefix without eviction, scaling or quantisation. */
export function injectsText(injection: StoredSequence['injection']): boolean {
  if (injection === null) return true;
  const { recipe, alpha, evict, keptAs } = injection;
  return recipe === null && alpha === 1 && evict === null && keptAs === 'f16';
}

/** Reuses the longest common prefix in the session, which must hold nothing but evaluated text. */
async function beginText(
  turn: StoredSequence,
  leftOut: string | undefined,
  { capabilities }: Engine,
  session: EngineSession,
): Promise<readonly TokenId[]> {
  const { header, lines, suffix } = splitSequence(turn, leftOut);
  const ids = [...header, ...lines.flatMap(({ tokenIds }) => tokenIds), ...suffix];
  const most = Math.min(commonLength(session.tokens, ids), ids.length - capabilities.leastTokens);
  const kept = lastExactCut(capabilities, most);
  await session.truncate(kept);
  return ids.slice(kept);
}

async function beginPrefix(
  { header, lines, suffix }: ReturnType<typeof splitSequence>,
  { alpha, evict, keptAs }: StoredInjection,
  engine: Engine,
  session: EngineSession,
): Promise<readonly TokenId[]> {
  await session.clear();
  await session.evaluate([...header, ...lines.flatMap(({ tokenIds }) => tokenIds)]);
  // An unedited prefix needs no cells.
  if (lines.length === 0 || (alpha === 1 && evict === null && keptAs === 'f16')) return suffix;
  let prefix = await exportPrefix(session, header.length);
  if (evict !== null) prefix = { ...prefix, memories: kvOperations.evict(prefix.memories, evict) };
  if (keptAs !== 'f16') {
    using cells = joinPrefix(prefix, 1, engine);
    prefix = cutPrefix(kvOperations.restore(kvOperations.quantise(cells, keptAs)), prefix.header.positions.length);
  }
  using scaled = joinPrefix(prefix, alpha, engine);
  await session.importCells(scaled);
  return suffix;
}

/**
 * The first call computes every block. Later ones evaluate the tokens that the recipe recomputes and, if blocks attend to the previous
 * memory, the block behind the one left out.
 */
async function blocksReplay(
  turn: StoredSequence,
  { recipe, alpha, evict, keptAs, positions }: StoredInjection & { readonly recipe: JoinRecipe },
  engine: Engine,
  session: EngineSession,
): Promise<TurnReplay> {
  const folder = new TemporaryFolder();
  const blockStore = await KvStore.open(folder.path, STORE_BYTES, engine);
  const store = kvOperations.openBlocks(blockStore, STORE_BYTES, 'when-evicted', keptAs);
  const context: BlockContext = { engine, session, store, kv: kvOperations, evict, keptAs, template: 'attribution' };
  const all = splitSequence(turn);
  const seesPrevious = recipe.context === 'previous';
  let gathered: GatheredBlocks | undefined;
  return {
    method: 'blocks',
    begin: async (leftOut) => {
      const rest = splitSequence(turn, leftOut);
      const { lines } = seesPrevious ? rest : all;
      if (gathered === undefined || seesPrevious) {
        gathered = await gatherBlocks(context, turn.userId, { ...all, lines }, recipe);
      }
      const { header, sink, blocks } = gathered;
      const joined = blocks.flatMap(({ state, start }, index) => {
        const { memoryId } = lines[index]!;
        return memoryId === leftOut ? [] : [{ state, start, rank: turn.ranked.indexOf(memoryId) }];
      });
      const unplaced = { header: header.state, sink, blocks: joined, alpha, rest };
      using placed = await joinAndRecompute(recipe, context, unplaced);
      if (leftOut === undefined && placed.positions.join() !== positions.join()) {
        const message = 'the blocks of the turn are now placed at other positions than the stored ones';
        const hint = 'another release wrote it: run the bench again with this one';
        throw new BenchError('not-reproduced', message, hint);
      }
      await session.importCells(placed.state);
      return rest.suffix;
    },
    [Symbol.asyncDispose]: async () => {
      store[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}
