import type { KvLayout } from './kv-layout.ts';

/**
 * Keys and values of cells, as an engine holds them: what is exported from a session, joined, transformed and imported
 * again. The order of cells is free; positions may leave gaps or be shared where the engine's capabilities allow it.
 * The token behind an imported state takes the position max(positions) + 1.
 *
 * Arrays are leased: they may be views into memory that is used again after disposal, and properties may be getters of
 * them. Read them when you use them.
 *
 * @example
 * import type { EngineSession } from './engine-session.ts';
 *
 * declare const session: EngineSession;
 * using block = await session.exportCells({ start: 20, end: 45 });
 * const lastPosition = block.positions.at(-1);
 */
export interface SequenceState extends Disposable {
  readonly layout: KvLayout;
  /** [cell], ≥ 0: the position by which the cell's keys are rotated. */
  readonly positions: Int32Array;
  /** [cell]; −1 where the heads of a cell hold different tokens, and where the token is not known. */
  readonly tokenIds: Int32Array;
  /** Of each layer [cell][head][dimension], after RoPE, transforms private to the engine undone. */
  readonly keys: readonly Uint8Array[];
  /** Of each layer [cell][head][dimension], or [head][dimension][cell] where the layout says transposed. */
  readonly values: readonly Uint8Array[];
}
