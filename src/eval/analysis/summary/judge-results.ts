import type { JudgeProbe, JudgeResults, VerdictAgreement } from '../../../store/records/run-results.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { judgeMetric, rubricMetric } from '../metrics/built-in-metrics.ts';

/** The share of equal verdicts, and kappa: 0 by chance, 1 for full agreement. @see Cohen 1960 */
export function verdictAgreement(pairs: readonly (readonly [boolean, boolean])[]): VerdictAgreement | null {
  const n = pairs.length;
  if (n === 0) return null;
  const same = pairs.filter(([a, b]) => a === b).length;
  const yesA = pairs.filter(([a]) => a).length;
  const yesB = pairs.filter(([, b]) => b).length;
  // Integer counts, so that full agreement gives exactly 1.
  const expected = yesA * yesB + (n - yesA) * (n - yesB);
  return { n, share: same / n, kappa: expected === n * n ? null : (same * n - expected) / (n * n - expected) };
}

function agreementWithContains(turns: Turns): VerdictAgreement | null {
  const pairs = turns.flatMap((turn) => {
    const [verdict, { contains }] = [judgeMetric.of(turn), turn.scores];
    return verdict === null || contains === null ? [] : [[verdict === 1, contains === 1] as const];
  });
  return verdictAgreement(pairs);
}

/** Agreement of the run's judge with `contains`, over all arms and by arm. */
export function judgeResults(probe: JudgeProbe, answered: Turns, arms: readonly string[]): JudgeResults {
  const answerable = answered.filter(({ item }) => item.gold !== null);
  return {
    ...probe,
    agreement: agreementWithContains(answerable),
    arms: arms.map((arm) => {
      const turns = turnsOfArm(answerable, arm);
      const judged = turns.filter((turn) => (judgeMetric.of(turn) ?? rubricMetric.of(turn)) !== null).length;
      return { arm, judged, unjudged: turns.length - judged, agreement: agreementWithContains(turns) };
    }),
  };
}

export function judgeNotes({ model, agreement, arms, failed }: JudgeResults): string[] {
  const notes: string[] = [];
  if (agreement !== null) {
    const share = `${(100 * agreement.share).toFixed(1)} % of ${agreement.n} answers`;
    notes.push(`judge ${model} agrees with contains on ${share}, Cohen's kappa ${agreement.kappa?.toFixed(2) ?? '–'}`);
  }
  const judged = arms.reduce((total, arm) => total + arm.judged, 0);
  const unjudged = arms.reduce((total, arm) => total + arm.unjudged, 0);
  if (unjudged > 0) {
    const reasons = failed.map(({ reason, answers, first }) => `${answers} × ${reason} (first: ${first})`).join('; ');
    const answers = `${unjudged} of ${judged + unjudged} answers, which are left out of its mean`;
    notes.push(`judge ${model} gave no verdict on ${answers}: ${reasons}`);
  }
  return notes;
}
