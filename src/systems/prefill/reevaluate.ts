import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenRange } from '../../engine/token-id.ts';
import type { BlockContext } from './gather-blocks.ts';

/** Cells that were computed again; they last until they are disposed of. */
export interface EvaluatedCells extends Disposable {
  readonly cells: SequenceState;
  /** More than there are cells where the engine needs longer calls; later tokens do not change earlier ones. */
  readonly evaluatedTokens: number;
}

/**
 * Evaluates the tokens of a range again, attending to the cells before it.
 * @param state contiguous, so that the cell of a position is the cell of that number
 */
export async function reevaluate(
  { engine, session, kv, signal }: Pick<BlockContext, 'engine' | 'session' | 'kv' | 'signal'>,
  state: SequenceState,
  { start, end }: TokenRange,
): Promise<EvaluatedCells> {
  const { leastTokens } = engine.capabilities;
  const ids = [...state.tokenIds.subarray(start, Math.max(end, start + leastTokens))];
  while (ids.length < leastTokens) ids.push(ids.at(-1)!);
  {
    using first = kv.first(state, start);
    await session.importCells(first);
  }
  await session.evaluate(ids, { signal });
  const cells = await session.exportCells({ start, end });
  return { cells, evaluatedTokens: ids.length, [Symbol.dispose]: () => cells[Symbol.dispose]() };
}
