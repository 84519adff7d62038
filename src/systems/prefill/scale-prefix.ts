import { BenchError } from '../../base/bench-error.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { type KvTools, kvTools } from '../../kv/kv-tools.ts';

/** A prefix from position 0 on, cut in front of its first memory, in plain memory; its values are not scaled. */
export interface PrefixCut {
  readonly header: SequenceState;
  readonly memories: SequenceState;
}

/** Copies header and memories apart. */
export function cutPrefix(
  cells: SequenceState,
  headerTokens: number,
  { cut }: Pick<KvTools, 'cut'> = kvTools,
): PrefixCut {
  return { header: cut(cells, 0, headerTokens), memories: cut(cells, headerTokens, cells.positions.length) };
}

/** Copies the prefix that a session holds. */
export async function exportPrefix(
  session: EngineSession,
  headerTokens: number,
  kv: Pick<KvTools, 'cut'> = kvTools,
): Promise<PrefixCut> {
  using cells = await session.exportCells();
  return cutPrefix(cells, headerTokens, kv);
}

/**
 * The prefix in one piece again, the values of its memories multiplied by α; for α = 1 bit for bit.
 * @throws BenchError `unsupported` where the engine gives no cells
 */
export function joinPrefix(
  { header, memories }: PrefixCut,
  alpha: number,
  engine: Pick<Engine, 'capabilities'>,
  kv: Pick<KvTools, 'join'> = kvTools,
): SequenceState {
  // At its own position: its keys are not rotated again.
  const placement = { block: memories, position: memories.positions[0]!, alpha };
  return kv.join(header, [placement], { rotary: requireCells(engine).rotary });
}

/** The engine's access to cells. @throws BenchError `unsupported`, with the reason, where it gives none */
export function requireCells({
  capabilities,
}: Pick<Engine, 'capabilities'>): NonNullable<Engine['capabilities']['cells']> {
  if (capabilities.cells !== null) return capabilities.cells;
  throw new BenchError(
    'unsupported',
    `KV cells are out of reach: ${capabilities.missing.cells ?? 'the engine has none'}`,
    'choose an arm that joins and scales nothing, such as rag or dki',
  );
}
