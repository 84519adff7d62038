import { judgeMetric } from '../../analysis/metrics/metrics.ts';
import type { OwnScore, TurnRepository } from '../../../store/turn-repository.ts';
import type { JudgeProbe } from '../../../store/records/results.ts';
import type { Judge } from './judge.ts';
import { type FailureReason, JudgeFailure } from './judge-failure.ts';
import { type AnswerToJudge, judgePrompt, verdictKey } from './judge-prompt.ts';

/** Requests that are under way at once. */
const AT_ONCE = 4;
/** Failures in a row after which nobody else is asked. */
const MOST_IN_A_ROW = 5;

/** Failures that are not of one answer. An error of the server has been tried again by then. */
const LASTING: readonly FailureReason[] = [
  ...(['no server', 'no such route or model', 'key refused', 'time-out', 'error of the server'] as const),
];

/** One answer, and the turns that gave it to the same question. */
interface AskedAnswer {
  readonly answer: AnswerToJudge;
  readonly places: Omit<OwnScore, 'value'>[];
}

function answersOf(model: string, turns: TurnRepository, runId: string): AskedAnswer[] {
  const asked = new Map<string, AskedAnswer>();
  for (const turn of turns.listForResults(runId)) {
    if (turn.state === 'failed' || turn.item.gold === null) continue;
    const { item, arm, itemId, repeat } = turn;
    const answer = { query: item.query, golds: [turn.item.gold, ...item.acceptedAnswers], answer: turn.answer.text };
    const key = verdictKey(model, answer);
    const one = asked.get(key) ?? { answer, places: [] };
    one.places.push({ arm, itemId, repeat, turn: turn.turn });
    asked.set(key, one);
  }
  return [...asked.values()];
}

/** Counts answers without a verdict by their reason. */
class Failures {
  readonly #byReason = new Map<string, { answers: number; first: string }>();

  add({ reason, message }: JudgeFailure, answers: number): void {
    const before = this.#byReason.get(reason);
    this.#byReason.set(reason, { answers: (before?.answers ?? 0) + answers, first: before?.first ?? message });
  }

  get listed(): JudgeProbe['failed'] {
    return [...this.#byReason].map(([reason, counted]) => ({ reason, ...counted }));
  }
}

/**
 * Asks a judge about every answer to an answerable item of a run, each distinct one once, and puts the verdicts into the turns.
 * An answer without a verdict keeps none. Verdicts are kept as they come: whoever is interrupted asks the rest alone.
 * @throws the reason of an aborted signal
 */
export async function judgeTurns(
  judge: Judge,
  turns: TurnRepository,
  runId: string,
  {
    signal,
    onAsked = () => undefined,
  }: { readonly signal: AbortSignal; readonly onAsked?: (done: number, of: number) => void },
): Promise<JudgeProbe> {
  const all = answersOf(judge.model, turns, runId);
  const values: OwnScore[] = [];
  const failures = new Failures();
  const open = all.values();
  let [asked, known, inARow, done] = [0, 0, 0, 0];
  let given: JudgeFailure | undefined;

  const judgeOne = async ({ answer, places }: AskedAnswer): Promise<void> => {
    const before = judge.known(answer);
    if (before !== undefined) known++;
    else if (given !== undefined) {
      failures.add(given, places.length);
      return;
    } else asked++;
    try {
      const right = before ?? (await judge.ask(answer, signal));
      if (before === undefined) inARow = 0;
      values.push(...places.map((place) => ({ ...place, value: Number(right) })));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof JudgeFailure)) throw error;
      failures.add(error, places.length);
      inARow = LASTING.includes(error.reason) ? inARow + 1 : 0;
      if (inARow >= MOST_IN_A_ROW) given = error;
    }
  };
  // All take from one list.
  const worker = async (): Promise<void> => {
    for (const one of open) {
      signal.throwIfAborted();
      await judgeOne(one);
      onAsked(++done, all.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  turns.putOwnScores(runId, judgeMetric.name, values);
  return { model: judge.model, prompt: judgePrompt, asked, known, failed: failures.listed };
}
