/** What the verdict of a run says of kinds of question, where the data plan a contrast of two of them. */
import { contrastName } from '../eval/analysis/summary/planned-contrast.ts';
import { formatInterval, formatNumber, formatProbability } from '../render/format-number.ts';
import type { Difference } from '../render/table.ts';
import type { ArmResults, RunResults } from '../store/records/run-results.ts';
import { taskSuccessMeaning } from './metric-display.ts';

const points = ({ delta, low, high }: Difference): string => formatInterval([delta * 100, low * 100, high * 100], 1);

/** The planned contrast, the reason if it was not measured; none if the data plan none. @param inFull adds its parts and its power */
export function contrastSentences({ contrast }: RunResults, inFull = true): string[] {
  if (contrast === undefined) return [];
  const { planned, before, found } = contrast;
  const name = `Planned contrast, ${contrastName(planned)}`;
  if (found.state === 'absent') return [`${name}: not measured (${found.why}).`];
  const { p, verdict, detectable, parts } = found;
  const test = p === null ? verdict : `p ${formatProbability(p)}, ${verdict}`;
  if (!inFull) return [`${name}: ${points(found)} points (${test}).`];
  const models = p === null ? '' : ', without correction for several models';
  const share = (value: number | null): string => (value === null ? '–' : formatNumber(value * 100, 1));
  const each = parts.map((part) => `${part.category} ${points(part)}`).join(', ');
  return [
    `${name}: ${points(found)} points (${test}${models}; ${each}). It could show ${share(before.detectable)} points by plan, ` +
      `${share(detectable)} with these items.`,
  ];
}

/** `plain −1.1 [−4.2, 2.0], updated …`: an arm's differences to the baseline; empty without any. */
function categoryDifferencesText({ breakdown }: ArmResults): string {
  return breakdown
    .flatMap(({ value, difference }) => (difference === undefined ? [] : [`${value} ${points(difference)}`]))
    .join(', ');
}

/** A sentence for each arm: its differences to the baseline by category. */
export function categorySentences({ run }: RunResults, arms: readonly ArmResults[]): string[] {
  return arms.flatMap((arm) => {
    const differences = categoryDifferencesText(arm);
    if (differences === '') return [];
    const against = arm.breakdown.flatMap(({ difference }) => difference?.against ?? [])[0]!;
    return [
      `${arm.arm} against ${against} by category, exploratory, in points of task success (${taskSuccessMeaning(run)}): ${differences}.`,
    ];
  });
}
