import type { RunResults } from '../../store/records/results.ts';
import { shareLabel } from '../tables/by-condition.ts';
import { armCurves, curvesInWords, type CurvePoint } from './arm-curves.ts';
import { isContender } from './arm-style.ts';
import { curvesFinding } from './curve-finding.ts';
import { capitalised } from './finding.ts';
import { estimateFields, type Figure, figureOf, MEANS } from './figure.ts';

const panels = [
  { budget: 'half', panel: 'Same budget: half of what is left', short: 'with half of what is left as budget' },
  { budget: 'all', panel: 'K/V budget: all that is left', short: 'with all of it' },
] as const;

/** Figure 2: task success by the share of the window that the memories would fill; undefined if quality is unknown. */
export function contextFigure(results: RunResults): Figure | undefined {
  const traits = new Map(results.arms.map((one) => [one.arm, one.traits]));
  const under = (budget: 'half' | 'all') =>
    results.conditions.filter(({ arm, place }) => {
      return place === null && isContender(results, arm) && (traits.get(arm)?.settings.budget ?? 'half') === budget;
    });
  const data: CurvePoint[] = panels.flatMap(({ budget, panel }) =>
    under(budget)
      .sort((a, b) => a.condition - b.condition)
      .flatMap(({ arm, condition, metrics: { taskSuccess } }) => {
        if (taskSuccess === null) return [];
        const base = traits.get(arm)?.base ?? arm;
        return [{ panel, arm: base, at: shareLabel(condition), ...estimateFields(taskSuccess, 100) }];
      }),
  );
  if (data.length === 0) return undefined;
  const findingOf = (budget: 'half' | 'all'): string =>
    curvesFinding(results, {
      conditions: under(budget),
      quality: ({ taskSuccess }) => taskSuccess,
      ...{ scale: 100, label: 'task success', unit: '%' },
      range: (first, last) => `from ${shareLabel(first)} to ${shareLabel(last)} of the window`,
    });
  return figureOf(results, {
    id: 'context',
    title: `Figure 2. ${panels
      .filter(({ panel }) => data.some((point) => point.panel === panel))
      .map(({ budget, short }) => capitalised(`${short}, ${findingOf(budget)}`))
      .join('. ')}`,
    key: MEANS,
    description: `Task success with 95 % intervals, by share of the window. ${curvesInWords(data, '%')}.`,
    data,
    spec: armCurves(results, data, { x: 'Memories, share of the window', y: 'Task success, %' }),
  });
}
