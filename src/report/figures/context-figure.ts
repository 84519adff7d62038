import { parseArmName } from '../../config/arm-name.ts';
import type { RunResults } from '../../eval/results.ts';
import { shareLabel } from '../tables/by-condition.ts';
import { armCurves, curvesInWords, type CurvePoint } from './arm-curves.ts';
import { isContender } from './arm-style.ts';
import { estimateFields, type Figure, figureOf } from './figure.ts';

const panels = [
  { budget: 'half', panel: 'Same budget: half of what is left' },
  { budget: 'all', panel: 'K/V budget: all that is left' },
] as const;

/** Task success by the share of the window that the memories would fill; undefined where quality is unknown. */
export function contextFigure(results: RunResults): Figure | undefined {
  const data: CurvePoint[] = panels.flatMap(({ budget, panel }) =>
    results.conditions
      .filter(({ arm, place }) => {
        return place === null && isContender(arm) && (parseArmName(arm)?.settings.budget ?? 'half') === budget;
      })
      .sort((a, b) => a.condition - b.condition)
      .flatMap(({ arm, condition, metrics: { taskSuccess } }) => {
        if (taskSuccess === null) return [];
        const base = parseArmName(arm)?.base ?? arm;
        return [{ panel, arm: base, at: shareLabel(condition), ...estimateFields(taskSuccess, 100) }];
      }),
  );
  if (data.length === 0) return undefined;
  return figureOf(results, {
    id: 'context',
    title: 'Figure 2. Task success in a fixed window, by what the memories would fill of it',
    description: `Task success with 95 % intervals, by share of the window. ${curvesInWords(data, '%')}.`,
    data,
    spec: armCurves(data, { x: 'Memories, share of the window', y: 'Task success, %' }),
  });
}
