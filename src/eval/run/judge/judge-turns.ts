import { mean } from '../../analysis/statistics/observations.ts';
import { judgeMetric, rubricMetric } from '../../analysis/metrics/built-in-metrics.ts';
import type { TurnRepository } from '../../../store/turn-repository.ts';
import type { JudgeProbe } from '../../../store/records/run-results.ts';
import { type FailureReason, JudgeFailure } from './chat-completion.ts';
import { type Judge, judgePrompt, rubricPrompt, type ToJudge, verdictKey } from './judge.ts';

const REQUESTS_AT_ONCE = 4;
/** Consecutive lasting failures after which no further request is sent. */
const MAX_IN_A_ROW = 5;

/** A turn with the verdicts on its answer, or on the points of it. */
type GradedTurn = ReturnType<typeof gradedTurns>[number];

/** Judges each distinct answer of a run once, each of its points if it has some, and stores each verdict at once. @throws the reason of `signal` */
export async function judgeTurns(
  judge: Judge,
  turns: TurnRepository,
  runId: string,
  { signal, onJudged }: { readonly signal: AbortSignal; readonly onJudged?: (done: number, of: number) => void },
): Promise<JudgeProbe> {
  const graded = gradedTurns(turns, runId);
  const questions = graded.flatMap((turn) => turn.questions.map((asked) => ({ asked, turn })));
  const answers = [...Map.groupBy(questions, ({ asked }) => verdictKey(judge.model, asked)).values()];
  const failures = new Map<FailureReason, { readonly turns: ReadonlySet<GradedTurn>; readonly first: string }>();
  const counts = { asked: 0, known: 0, inARow: 0, done: 0 };
  let givenUp: JudgeFailure | undefined;

  const verdict = async (answer: ToJudge): Promise<number> => {
    const known = judge.known(answer);
    if (known !== undefined) {
      counts.known++;
      return known;
    }
    if (givenUp !== undefined) throw givenUp;
    counts.asked++;
    const value = await judge.ask(answer, signal);
    counts.inARow = 0;
    return value;
  };
  const fail = (failure: JudgeFailure, without: readonly GradedTurn[]): void => {
    const { turns: known = [], first = failure.message } = failures.get(failure.reason) ?? {};
    failures.set(failure.reason, { turns: new Set([...known, ...without]), first });
    // The next answer would probably meet these too. Server errors are retried before they count.
    counts.inARow = failure.code === 'network' ? counts.inARow + 1 : 0;
    if (counts.inARow >= MAX_IN_A_ROW) givenUp ??= failure;
  };
  const open = answers.values();
  const worker = async (): Promise<void> => {
    for (const same of open) {
      signal.throwIfAborted();
      try {
        const value = await verdict(same[0]!.asked);
        for (const { turn } of same) turn.verdicts.push(value);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof JudgeFailure)) throw error;
        fail(
          error,
          same.map(({ turn }) => turn),
        );
      }
      onJudged?.(++counts.done, answers.length);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker));
  for (const { name } of [judgeMetric, rubricMetric]) {
    const own = graded.filter(({ metric }) => metric === name);
    turns.putOwnScores(
      runId,
      name,
      own.filter(isJudged).map(({ place, verdicts }) => ({ ...place, value: mean(verdicts) })),
    );
  }
  const failed = [...failures].map(([reason, { turns: without, first }]) => ({ reason, answers: without.size, first }));
  const hasPoints = graded.some(({ metric }) => metric === rubricMetric.name);
  const prompts = { prompt: judgePrompt, ...(hasPoints ? { rubricPrompt } : {}) };
  return { model: judge.model, ...prompts, asked: counts.asked, known: counts.known, failed };
}

/** True if the judge gave a verdict on all points. */
const isJudged = ({ questions, verdicts }: GradedTurn): boolean => verdicts.length === questions.length;

function gradedTurns(turns: TurnRepository, runId: string) {
  return [...turns.listForResults(runId)].flatMap((turn) => {
    if (turn.state === 'failed' || turn.item.gold === null) return [];
    const { item, arm, itemId, repeat } = turn;
    const about = { query: item.query, answer: turn.answer.text };
    const questions: readonly ToJudge[] = item.nuggets?.map((nugget) => ({ ...about, nugget })) ?? [
      { ...about, golds: [turn.item.gold, ...item.acceptedAnswers] },
    ];
    const { name: metric } = item.nuggets === undefined ? judgeMetric : rubricMetric;
    const verdicts: number[] = [];
    return [{ metric, place: { arm, itemId, repeat, turn: turn.turn }, questions, verdicts }];
  });
}
