import { type EngineCapabilities, lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import { compareScores, type ScoreDifference, type SequenceScore } from '../../../engine/sequence-score.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { CellsSelfTest, ParitySelfTest } from '../../../store/records/run-probes.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import { kvOperations } from '../../../kv/kv-operations.ts';
import type { InjectedParts } from '../observe/expected-injection.ts';
import { type CellMaker, expectedCells, FreshCells } from './expected-cells.ts';
import { cellDifference, movedCell, type Float64Cell, float64Cells, toState } from './float64-cells.ts';

export interface ContinuedPrompt {
  readonly prompt: readonly TokenId[];
  readonly continuation: readonly TokenId[];
}

const SHORTEST_PROMPT = 4;
/** One of this many prompts is evaluated whole a second time. */
const REPEATED_PROMPTS = 4;

/** Prompts that the test takes at least, even if the model is slow. */
const MIN_PROMPTS = 4;

export interface SelfTestOptions extends CallOptions {
  /** Time budget in ms, from the time to evaluate one prompt whole. Default: no limit. */
  readonly budgetOf?: (wholeMs: number) => number;
  /** Called after each prompt with the number of tested ones, and of those for which the budget is expected to last. */
  readonly onPrompt?: ((done: number, total: number) => void) | undefined;
}

/**
 * Compares probabilities of prompts evaluated whole, cut near each quarter, and for some whole again. A prompt is cut at all
 * places at once; only if that changes a bit, at each alone, to measure the noise of one cut. Tests four prompts, and more as
 * the budget allows. @throws RangeError without prompts, and for one of fewer than four tokens
 */
export async function paritySelfTest(
  engine: Pick<Engine, 'openSession' | 'capabilities' | 'deleteCheckpoint'>,
  prompts: readonly ContinuedPrompt[],
  { budgetOf = () => Infinity, onPrompt, signal }: SelfTestOptions = {},
): Promise<ParitySelfTest> {
  if (prompts.length === 0) throw new RangeError('the parity self-test needs a prompt');
  await using session = await engine.openSession('self-test');
  const cut: ScoreDifference[] = [];
  const repeated: ScoreDifference[] = [];
  let [tested, cuts] = [0, 0];
  let budgetMs = Infinity;
  const start = performance.now();
  for (const [index, { prompt, continuation }] of prompts.entries()) {
    if (tested >= MIN_PROMPTS && performance.now() - start > budgetMs) break;
    const evaluate = (...places: readonly number[]) =>
      scoreInPieces(engine, session, { prompt, continuation, places }, signal);
    const wholeStart = performance.now();
    const whole = await evaluate();
    if (tested++ === 0) budgetMs = budgetOf(performance.now() - wholeStart);
    const places = cutPlaces(prompt.length, engine.capabilities);
    cuts += places.length;
    cut.push(...(await cutDifferences(whole, places, evaluate)));
    if (index % REPEATED_PROMPTS === 0) repeated.push(compareScores(whole, await evaluate()));
    const affordable = Math.ceil((budgetMs * tested) / (performance.now() - start));
    onPrompt?.(tested, Math.min(prompts.length, Math.max(MIN_PROMPTS, tested, affordable)));
  }
  return {
    prompts: tested,
    cuts,
    ...mergeDifferences([...cut, ...repeated]),
    repeated: { evaluations: repeated.length, ...mergeDifferences(repeated) },
  };
}

/** Differences by a cut at all places, and if any bit differs by a cut at each alone. */
async function cutDifferences(
  whole: SequenceScore,
  places: readonly number[],
  evaluate: (...places: readonly number[]) => Promise<SequenceScore>,
): Promise<readonly ScoreDifference[]> {
  const differences: ScoreDifference[] = [];
  // Kernels for one token would evaluate a piece of a single token, with other bits.
  const haveTwoTokens = places.every((place, index) => place - (places[index - 1] ?? 0) >= 2);
  if (places.length > 0 && haveTwoTokens) differences.push(compareScores(whole, await evaluate(...places)));
  if (differences[0]?.bitwiseEqual === true) return differences;
  for (const place of places) differences.push(compareScores(whole, await evaluate(place)));
  return differences;
}

/** Scores a continuation of a prompt that is evaluated in pieces, from one place to the next. */
async function scoreInPieces(
  engine: Pick<Engine, 'capabilities' | 'deleteCheckpoint'>,
  session: EngineSession,
  { prompt, continuation, places }: ContinuedPrompt & { readonly places: readonly number[] },
  signal: AbortSignal | undefined,
): Promise<SequenceScore> {
  // With a sliding window, a restored state has fewer cells than the session had.
  const isRestored = engine.capabilities.checkpoints && engine.capabilities.truncatesUpTo !== null;
  const starts = [0, ...places];
  await session.clear();
  for (const [piece, end] of places.entries()) {
    await session.evaluate(prompt.slice(starts[piece], end), { signal });
    if (isRestored) {
      const checkpoint = await session.checkpoint({ signal });
      await session.restore(checkpoint, { signal }).finally(() => engine.deleteCheckpoint(checkpoint));
    }
  }
  return session.score(prompt.slice(starts.at(-1)), continuation, { signal });
}

function mergeDifferences(differences: readonly ScoreDifference[]): ScoreDifference {
  return {
    bitwiseEqual: differences.every(({ bitwiseEqual }) => bitwiseEqual),
    largestDifference: Math.max(...differences.map(({ largestDifference }) => largestDifference)),
  };
}

function cutPlaces(tokens: number, capabilities: EngineCapabilities): number[] {
  if (tokens < SHORTEST_PROMPT)
    throw new RangeError(`a prompt of ${tokens} tokens cannot be cut into two pieces of two`);
  const places = [1, 2, 3].map((quarter) => {
    const place = Math.min(tokens - 2, Math.max(2, Math.floor((quarter * tokens) / 4)));
    return lastExactCut(capabilities, place);
  });
  return [...new Set(places)].filter((place) => place >= 2);
}

interface PromptInParts extends Pick<InjectedParts, 'header' | 'lines'> {
  readonly suffix: readonly TokenId[];
  readonly continuation: readonly TokenId[];
}

/**
 * Tests a model's cells: one joined block must equal text, blocks recomputed in full must too, and the engine must rotate keys
 * like plain arithmetic. Measures the effect of keys rotated one position too far. Needs two memories.
 */
export async function cellsSelfTest(
  engine: Engine,
  { header, lines, suffix, continuation }: PromptInParts,
  options: CallOptions = {},
): Promise<CellsSelfTest> {
  const { cells, leastTokens, missing } = engine.capabilities;
  if (cells === null) return { missing: missing.cells ?? 'the engine exports no cells' };
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
  const cut = cellDifference(await readCells(scoring, options), text);
  const recomputed = cellDifference(all, text);
  const shifted = text.map((cell, index) =>
    index < header.length ? cell : { ...movedCell(cell, cell.position + 1, rotary, layout), position: cell.position },
  );
  const right = await scored(toState(text, layout));
  const planted = compareScores(right, await scored(toState(shifted, layout)));
  return {
    oneBlock: await oneBlock(engine, scoring, { header, lines, suffix, continuation }, options),
    noise: { firstKeys: cut.firstKeys, deeper: Math.max(cut.keys, cut.values) },
    recomputed: Math.max(recomputed.keys, recomputed.values),
    shift: engine.capabilities.shift ? await shiftedByEngine(scoring, cells, { ...parts, suffix }, options) : null,
    planted: planted.largestDifference,
  };
}

async function readCells(session: EngineSession, options: CallOptions): Promise<Float64Cell[]> {
  using state = await session.exportCells(undefined, options);
  return float64Cells(state);
}

/**
 * Compares the memories, joined as one block behind the header, with the same text evaluated whole. Header and block end where a
 * cut changes no bit; null if no such place is between them.
 */
async function oneBlock(
  { capabilities }: Engine,
  session: EngineSession,
  { header, lines, suffix, continuation }: PromptInParts,
  options: CallOptions,
): Promise<ScoreDifference | null> {
  const text = [...header, ...lines.flat()];
  const middle = lastExactCut(capabilities, header.length);
  const end = lastExactCut(capabilities, text.length);
  if (middle === 0 || end === middle) return null;
  const rest = [...text.slice(end), ...suffix];
  await session.clear(options);
  const whole = await session.score([...text, ...suffix], continuation, options);
  await session.clear(options);
  await session.evaluate(text.slice(0, middle), options);
  await session.evaluate(text.slice(middle, end), options);
  using first = await session.exportCells({ start: 0, end: middle }, options);
  using second = await session.exportCells({ start: middle, end }, options);
  const placement = { block: second, position: middle, alpha: 1 };
  using joined = kvOperations.join(first, [placement], { rotary: capabilities.cells!.rotary });
  await session.importCells(joined, options);
  return compareScores(whole, await session.score(rest, continuation, options));
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
  const before = (await readCells(scoring, options)).slice(header.length + first.length);
  await scoring.erase({ start: header.length, end: header.length + first.length }, options);
  // Some engines rotate keys only at the next evaluation.
  await scoring.evaluate(suffix, options);
  const after = (await readCells(scoring, options)).slice(header.length, header.length + rest.length);
  const moved = before.map((cell) => movedCell(cell, cell.position - first.length, rotary, layout));
  // Infinity could not be stored.
  const isPlaced = after.every(({ position }, index) => position === moved[index]!.position);
  return isPlaced ? cellDifference(after, moved).keys : 1;
}
