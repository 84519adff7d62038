import { BenchError } from '../../config/bench-error.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import { cutCells } from '../../kv/cut-cells.ts';
import { type KvTools, kvTools } from '../../kv/kv-tools.ts';

/**
 * Multiplies the values of the memory lines in a session that holds a contiguous prefix; the header's stay untouched.
 * @throws BenchError `unsupported` where the engine gives no cells
 */
export async function scalePrefix(
  session: EngineSession,
  headerTokens: number,
  alpha: number,
  engine: Pick<Engine, 'capabilities'>,
  kv: Pick<KvTools, 'join'> = kvTools,
): Promise<void> {
  using cells = await session.exportCells();
  const header = cutCells(cells, 0, headerTokens);
  const memories = cutCells(cells, headerTokens, cells.positions.length);
  using scaled = kv.join(header, [{ block: memories, position: headerTokens, alpha }], {
    rotary: cellsOf(engine).rotary,
  });
  await session.importCells(scaled);
}

/** The engine's cells. @throws BenchError `unsupported`, with the reason, where it gives none */
export function cellsOf({ capabilities }: Pick<Engine, 'capabilities'>): NonNullable<Engine['capabilities']['cells']> {
  if (capabilities.cells !== null) return capabilities.cells;
  throw new BenchError(
    'unsupported',
    `K/V cells are out of reach: ${capabilities.missing.cells ?? 'the engine has none'}`,
    'choose an arm that joins and scales nothing, such as rag or dki',
  );
}
