import { judgeMetric } from '../../analysis/metrics/built-in-metrics.ts';
import type { OwnScore, TurnRepository } from '../../../store/turn-repository.ts';
import type { JudgeProbe } from '../../../store/records/run-results.ts';
import { type FailureReason, JudgeFailure } from './chat-completion.ts';
import { type AnswerToJudge, type Judge, judgePrompt, verdictKey } from './judge.ts';

const REQUESTS_AT_ONCE = 4;
/** Consecutive lasting failures after which no further request is sent. */
const MAX_IN_A_ROW = 5;
/** Failures that the next answer would probably meet too. Server errors are retried before they count. */
const LASTING: readonly FailureReason[] = [
  'no server',
  'no such route or model',
  'key refused',
  'time-out',
  'error of the server',
];

interface DistinctAnswer {
  readonly answer: AnswerToJudge;
  readonly turns: Omit<OwnScore, 'value'>[];
}

/** Judges each distinct answer of a run once, and stores each verdict at once. @throws the reason of `signal` */
export async function judgeTurns(
  judge: Judge,
  turns: TurnRepository,
  runId: string,
  { signal, onJudged }: { readonly signal: AbortSignal; readonly onJudged?: (done: number, of: number) => void },
): Promise<JudgeProbe> {
  const answers = distinctAnswers(judge.model, turns, runId);
  const values: OwnScore[] = [];
  const failures = new Map<FailureReason, { answers: number; first: string }>();
  const counts = { asked: 0, known: 0, inARow: 0, done: 0 };
  let givenUp: JudgeFailure | undefined;

  const verdict = async (answer: AnswerToJudge): Promise<boolean> => {
    const known = judge.known(answer);
    if (known !== undefined) {
      counts.known++;
      return known;
    }
    if (givenUp !== undefined) throw givenUp;
    counts.asked++;
    const isRight = await judge.ask(answer, signal);
    counts.inARow = 0;
    return isRight;
  };
  const fail = (failure: JudgeFailure, count: number): void => {
    const { answers: before, first } = failures.get(failure.reason) ?? { answers: 0, first: failure.message };
    failures.set(failure.reason, { answers: before + count, first });
    counts.inARow = LASTING.includes(failure.reason) ? counts.inARow + 1 : 0;
    if (counts.inARow >= MAX_IN_A_ROW) givenUp ??= failure;
  };
  const open = answers.values();
  const worker = async (): Promise<void> => {
    for (const { answer, turns: places } of open) {
      signal.throwIfAborted();
      try {
        const value = Number(await verdict(answer));
        values.push(...places.map((place) => ({ ...place, value })));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof JudgeFailure)) throw error;
        fail(error, places.length);
      }
      onJudged?.(++counts.done, answers.length);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker));
  turns.putOwnScores(runId, judgeMetric.name, values);
  const failed = [...failures].map(([reason, counted]) => ({ reason, ...counted }));
  return { model: judge.model, prompt: judgePrompt, asked: counts.asked, known: counts.known, failed };
}

function distinctAnswers(model: string, turns: TurnRepository, runId: string): DistinctAnswer[] {
  const answers = new Map<string, DistinctAnswer>();
  for (const turn of turns.listForResults(runId)) {
    if (turn.state === 'failed' || turn.item.gold === null) continue;
    const { item, arm, itemId, repeat } = turn;
    const answer = { query: item.query, golds: [turn.item.gold, ...item.acceptedAnswers], answer: turn.answer.text };
    const key = verdictKey(model, answer);
    const distinct = answers.get(key) ?? { answer, turns: [] };
    distinct.turns.push({ arm, itemId, repeat, turn: turn.turn });
    answers.set(key, distinct);
  }
  return [...answers.values()];
}
