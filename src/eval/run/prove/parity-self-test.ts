import type { CallOptions } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import { compareScores, type ScoreDifference, type SequenceScore } from '../../../engine/sequence-score.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { ParitySelfTest } from '../../../store/records/run-probes.ts';

/** A prompt, and the continuation that is scored behind it. */
export interface ContinuedPrompt {
  readonly prompt: readonly TokenId[];
  readonly continuation: readonly TokenId[];
}

const SHORTEST_PROMPT = 4;
/** One prompt in so many is evaluated whole a second time. */
const REPEATED_PROMPTS = 4;

/** The least that is tested, however slow the model. */
const LEAST_PROMPTS = 4;
const LEAST_BUDGET_MS = 20_000;
/** Of the time in which a run of so many turns would evaluate that many prompts. */
const SHARE = 0.02;

/** The extent of a self-test. */
export interface SelfTestOptions extends CallOptions {
  /** Milliseconds that it may take, from those of one prompt that is evaluated whole. Default: all prompts are tested. */
  readonly budgetOf?: (wholeMs: number) => number;
}

/**
 * Evaluates each prompt whole and cut in two at a quarter, half and three quarters, and some whole again, and compares the
 * next token's probabilities and its continuation's. No piece is a single token. Needs a free session of the engine. Of a slow
 * model only so many prompts are tested as the budget allows, four at least; the result says how many.
 * @throws RangeError for a prompt of fewer than four tokens, and where there is none
 */
export async function paritySelfTest(
  engine: Pick<Engine, 'openSession'>,
  prompts: readonly ContinuedPrompt[],
  { budgetOf = () => Infinity, signal }: SelfTestOptions = {},
): Promise<ParitySelfTest> {
  if (prompts.length === 0) throw new RangeError('the parity self-test needs a prompt');
  await using session = await engine.openSession('self-test');
  const cut: ScoreDifference[] = [];
  const repeated: ScoreDifference[] = [];
  let tested = 0;
  let budgetMs = Infinity;
  const start = performance.now();
  for (const [index, { prompt, continuation }] of prompts.entries()) {
    if (tested >= LEAST_PROMPTS && performance.now() - start > budgetMs) break;
    const evaluate = async (place: number): Promise<SequenceScore> => {
      await session.clear();
      await session.evaluate(prompt.slice(0, place), { signal });
      return session.score(prompt.slice(place), continuation, { signal });
    };
    const wholeStart = performance.now();
    const whole = await evaluate(0);
    if (tested++ === 0) budgetMs = budgetOf(performance.now() - wholeStart);
    for (const place of cutPlaces(prompt.length)) cut.push(compareScores(whole, await evaluate(place)));
    if (index % REPEATED_PROMPTS === 0) repeated.push(compareScores(whole, await evaluate(0)));
  }
  return {
    prompts: tested,
    cuts: cut.length,
    ...together([...cut, ...repeated]),
    repeated: { evaluations: repeated.length, ...together(repeated) },
  };
}

/** The most that the self-test takes before a run of so many turns, by the time of one prompt that is evaluated whole. */
export function selfTestBudgetMs(wholeMs: number, turns: number): number {
  return Math.max(LEAST_BUDGET_MS, SHARE * turns * wholeMs);
}

function together(differences: readonly ScoreDifference[]): ScoreDifference {
  return {
    bitwiseEqual: differences.every(({ bitwiseEqual }) => bitwiseEqual),
    largestDifference: Math.max(...differences.map(({ largestDifference }) => largestDifference)),
  };
}

function cutPlaces(tokens: number): number[] {
  if (tokens < SHORTEST_PROMPT)
    throw new RangeError(`a prompt of ${tokens} tokens cannot be cut into two pieces of two`);
  const places = [1, 2, 3].map((quarter) => Math.min(tokens - 2, Math.max(2, Math.floor((quarter * tokens) / 4))));
  return [...new Set(places)];
}
