import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import { compareScores, type SequenceScore } from '../../../engine/sequence-score.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { kvTools } from '../../../kv/kv-tools.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import type { InjectedParts } from '../observe/injected-parts.ts';
import { type CellMaker, expectedCells, FreshCells } from './expected-cells.ts';
import { cellDifference, movedCell, type ReferenceCell, referenceCells, stateOf } from './reference-cells.ts';

/** A prompt with memories, and a text that is scored behind it. */
interface PromptInParts extends Pick<InjectedParts, 'header' | 'lines'> {
  readonly suffix: readonly TokenId[];
  readonly continuation: readonly TokenId[];
}

/**
 * Tests a model's cells before any arm runs: one joined block equals the text; all blocks with all tokens recomputed are the cells of
 * the text; the engine rotates keys as plain arithmetic does; and how much keys that are rotated by one position too many change the
 * probabilities, which the noise of parity is compared with.
 * @param prompt with at least two memories
 */
export async function cellsSelfTest(
  engine: Engine,
  { header, lines, suffix, continuation }: PromptInParts,
  options: CallOptions = {},
): Promise<CellsSelfTest> {
  const { cells, leastTokens, missing } = engine.capabilities;
  if (cells === null) return { missing: missing.cells ?? 'the engine gives no cells' };
  await using scoring = await engine.openSession('self-test of cells');
  const fresh = new FreshCells(scoring);
  const maker: CellMaker = { engine, fresh, cells, leastTokens, options };
  const { layout, rotary } = cells;
  const scored = async (state: SequenceState): Promise<SequenceScore> => {
    await scoring.importCells(state, options);
    return scoring.score(suffix, continuation, options);
  };
  const parts = { header, lines };
  const text = await expectedCells(maker, 'prefix', parts, 1);
  const all = await expectedCells(maker, 'link:all', parts, 1);
  fresh.forget();
  await scoring.clear(options);
  await scoring.evaluate(header, options);
  await scoring.evaluate(lines.flat(), options);
  const cut = cellDifference(await cellsOf(scoring, options), text);
  const recomputed = cellDifference(all, text);
  const shifted = text.map((cell, index) =>
    index < header.length ? cell : { ...movedCell(cell, cell.position + 1, rotary, layout), position: cell.position },
  );
  const right = await scored(stateOf(text, layout));
  const planted = compareScores(right, await scored(stateOf(shifted, layout)));
  return {
    oneBlock: await oneBlock(engine, scoring, { header, lines: lines.slice(0, 1), suffix, continuation }, options),
    noise: { firstKeys: cut.firstKeys, deeper: Math.max(cut.keys, cut.values) },
    recomputed: Math.max(recomputed.keys, recomputed.values),
    shift: engine.capabilities.shift ? await shiftedByEngine(scoring, cells, { ...parts, suffix }, options) : null,
    planted: planted.largestDifference,
  };
}

async function cellsOf(session: EngineSession, options: CallOptions): Promise<ReferenceCell[]> {
  using state = await session.exportCells(undefined, options);
  return referenceCells(state);
}

/** One memory as a block that is joined behind its header, against the same text evaluated whole. */
async function oneBlock(
  { capabilities }: Engine,
  session: EngineSession,
  { header, lines, suffix, continuation }: PromptInParts,
  options: CallOptions,
): Promise<ReturnType<typeof compareScores>> {
  const block = lines.flat();
  await session.clear(options);
  const whole = await session.score([...header, ...block, ...suffix], continuation, options);
  await session.clear(options);
  await session.evaluate(header, options);
  await session.evaluate(block, options);
  const end = header.length + block.length;
  using first = await session.exportCells({ start: 0, end: header.length }, options);
  using second = await session.exportCells({ start: header.length, end }, options);
  const placement = { block: second, position: header.length, alpha: 1 };
  using joined = kvTools.join(first, [placement], { rotary: capabilities.cells!.rotary });
  await session.importCells(joined, options);
  return compareScores(whole, await session.score(suffix, continuation, options));
}

/** Erases the first block, so that the engine moves the others, and compares their keys with plain rotation. */
async function shiftedByEngine(
  scoring: EngineSession,
  { rotary, layout }: CellMaker['cells'],
  { header, lines: [first = [], ...others], suffix }: Omit<PromptInParts, 'continuation'>,
  options: CallOptions,
): Promise<number> {
  const rest = others.flat();
  await scoring.clear(options);
  await scoring.evaluate([...header, ...first, ...rest], options);
  const before = (await cellsOf(scoring, options)).slice(header.length + first.length);
  await scoring.erase({ start: header.length, end: header.length + first.length }, options);
  // An engine may rotate with the next evaluation.
  await scoring.evaluate(suffix, options);
  const after = (await cellsOf(scoring, options)).slice(header.length, header.length + rest.length);
  const moved = before.map((cell) => movedCell(cell, cell.position - first.length, rotary, layout));
  const isPlaced = after.every(({ position }, index) => position === moved[index]!.position);
  return isPlaced ? cellDifference(after, moved).keys : Infinity;
}
