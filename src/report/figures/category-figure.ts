import { contrastName } from '../../eval/analysis/summary/planned-contrast.ts';
import { type Figure, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import { baselineArm } from '../find-arms-and-comparisons.ts';
import { taskSuccessMeaning } from '../metric-display.ts';
import { fieldValues, findPart } from '../tables/breakdown-tables.ts';
import { armEncoding, isContender } from './arm-encoding.ts';
import { distinct, estimateFields, estimateText, facets, intervalLayer, MEANS, nameAxis, quantity } from './figure-parts.ts'; // prettier-ignore
import { containsZero, sizeText } from './title-wording.ts';

/** The finding of the planned contrast, by its interval. */
function contrastFinding(contrast: NonNullable<RunResults['contrast']>): string {
  const { planned, found } = contrast;
  const [first, second] = planned.categories;
  if (found.state === 'absent')
    return `The planned contrast, ${contrastName(planned)}, was not measured (${found.why})`;
  const against = `against ${planned.reference} on ${first}`;
  if (containsZero(found)) return `${planned.arm} ${against} is not shown to differ from that on ${second}`;
  const words = found.delta > 0 ? 'above' : 'below';
  return `${planned.arm} ${against} is ${sizeText(found, 100, 1)} points ${words} that on ${second}`;
}

/** The difference to text by category, one panel each; undefined where the data plan no contrast of categories. */
export function categoryFigure(results: RunResults): Figure | undefined {
  const { arms, contrast, run } = results;
  const baseline = baselineArm(arms)?.arm;
  if (contrast === undefined || baseline === undefined) return undefined;
  const shown = arms.filter(({ arm }) => arm !== baseline && isContender(results, arm));
  const data = fieldValues(shown, 'category').flatMap((category) =>
    shown.flatMap((arm) => {
      const difference = findPart(arm, 'category', category)?.difference;
      if (difference === undefined) return [];
      return [{ category, arm: arm.arm, ...estimateFields({ mean: difference.delta, ...difference }, 100) }];
    }),
  );
  if (data.length === 0) return undefined;
  const names = distinct(data.map(({ arm }) => arm));
  const { color, shape } = armEncoding(results, names);
  const y = nameAxis('arm', names);
  const x = quantity(`Δ vs ${baseline}, points`, {}, { tickCount: 4, grid: true });
  const words = data.map((one) => `${one.category}: ${one.arm} ${estimateText(one, 'points')}`);
  const title = `Task success (${taskSuccessMeaning(run)}) minus that of ${baseline}, by category, exploratory`;
  return {
    id: 'categories',
    title: `Figure F0. ${contrastFinding(contrast)}`,
    key: `${MEANS} By category all is exploratory but the planned contrast.`,
    description: `${title}, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: facets('category', distinct(data.map(({ category }) => category)), 2, {
      width: HALF_PANEL_WIDTH,
      height: { step: 16 },
      encoding: { y, color: { ...color, legend: null } },
      layer: [
        { mark: { type: 'rule', opacity: 0.4 }, encoding: { x: { datum: 0 }, y: null, color: null } },
        intervalLayer('x', x),
        { mark: 'point', encoding: { x: { ...x, field: 'value' }, shape: { ...shape, legend: null } } },
      ],
    }),
  };
}
