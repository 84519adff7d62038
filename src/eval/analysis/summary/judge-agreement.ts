import type { JudgeProbe, JudgeResults } from '../../../store/records/results.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { judgeMetric } from '../metrics/judge-metric.ts';
import { verdictAgreement } from '../statistics/cohen-kappa.ts';

function agreementOf(turns: readonly AnsweredResult[]): JudgeResults['agreement'] {
  return verdictAgreement(
    turns.flatMap((turn) => {
      const [verdict, { contains }] = [judgeMetric.of(turn), turn.scores];
      return verdict === null || contains === null ? [] : [[verdict === 1, contains === 1] as const];
    }),
  );
}

/** The judge of a run: how often it says what `contains` says, over all arms and by arm. */
export function judgeResults(
  probe: JudgeProbe,
  answered: readonly AnsweredResult[],
  arms: readonly string[],
): JudgeResults {
  const answerable = answered.filter(({ item }) => item.gold !== null);
  return {
    ...probe,
    agreement: agreementOf(answerable),
    arms: arms.map((arm) => {
      const turns = answerable.filter((turn) => turn.arm === arm);
      const judged = turns.filter((turn) => judgeMetric.of(turn) !== null).length;
      return { arm, judged, unjudged: turns.length - judged, agreement: agreementOf(turns) };
    }),
  };
}

/** Notes on a judge: its agreement with `contains`, and the answers that it gave no verdict on. */
export function judgeNotes({ model, agreement, arms, failed }: JudgeResults): string[] {
  const sum = (of: (arm: JudgeResults['arms'][number]) => number): number =>
    arms.reduce((total, arm) => total + of(arm), 0);
  const [judged, unjudged] = [sum((arm) => arm.judged), sum((arm) => arm.unjudged)];
  const kappa = agreement?.kappa?.toFixed(2) ?? '–';
  const reasons = failed.map(({ reason, answers, first }) => `${answers} × ${reason} (first: ${first})`);
  return [
    ...(agreement === null
      ? []
      : [
          `judge ${model} agrees with contains on ${(100 * agreement.share).toFixed(1)} % of ${agreement.n} answers, Cohen's kappa ${kappa}`,
        ]),
    ...(unjudged === 0
      ? []
      : [
          `judge ${model} gave no verdict on ${unjudged} of ${judged + unjudged} answers, which are left out of its mean: ${reasons.join('; ')}`,
        ]),
  ];
}
