import { contrastName } from '../../eval/analysis/summary/planned-contrast.ts';
import { type Figure, type FigureSpec, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatDifference, formatNumber } from '../../render/format-number.ts';
import type { ArmResults, RunResults } from '../../store/records/run-results.ts';
import { baselineArm } from '../find-arms-and-comparisons.ts';
import { taskSuccessMeaning } from '../metric-display.ts';
import { fieldValues, findPart } from '../tables/breakdown-tables.ts';
import { armEncoding, isContender, namedArmEncoding } from './arm-encoding.ts';
import { distinct, estimateFields, estimateText, facets, intervalLayer, MEANS, measuredScale, nameAxis, quantity } from './figure-parts.ts'; // prettier-ignore
import { sizeText } from '../verdict-wording.ts';

function contrastFinding(contrast: NonNullable<RunResults['contrast']>): string {
  const { planned, found } = contrast;
  const [first, second] = planned.categories;
  if (found.state === 'absent')
    return `The planned contrast, ${contrastName(planned)}, was not measured (${found.why})`;
  const against = `against ${planned.reference} on ${first}`;
  const { verdict } = found;
  if (verdict !== 'higher' && verdict !== 'lower') {
    const signed = formatDifference(found, 100, 1);
    return `${planned.arm} ${against} differs by ${signed} points from that on ${second}, ${verdict}`;
  }
  const words = verdict === 'higher' ? 'above' : 'below';
  return `${planned.arm} ${against} is ${sizeText(found, 100, 1)} points ${words} that on ${second}`;
}

/** The differences to text in points, by category and arm. */
const categoryDifferences = (arms: readonly ArmResults[]) =>
  fieldValues(arms, 'category').flatMap((category) =>
    arms.flatMap((arm) => {
      const difference = findPart(arm, 'category', category)?.difference;
      if (difference === undefined) return [];
      return [{ category, arm: arm.arm, ...estimateFields({ mean: difference.delta, ...difference }, 100) }];
    }),
  );

type CategoryDifference = ReturnType<typeof categoryDifferences>[number];

/** A panel for each category, with points and intervals along an axis, and a rule at no difference. */
function categoryPanels(data: readonly CategoryDifference[], axis: 'x' | 'y', baseline: string, spec: FigureSpec) {
  const { shape, ...others } = spec;
  const scale = measuredScale([...data, { value: 0 }]);
  const along = quantity(`Δ vs ${baseline}, points`, scale, { tickCount: 4, grid: true });
  const across = axis === 'x' ? { y: null } : { x: null, xOffset: null };
  const zero = {
    transform: [{ aggregate: [], groupby: ['category'] }],
    mark: { type: 'rule', opacity: 0.5 },
    encoding: { [axis]: { datum: 0 }, ...across, color: null },
  };
  const points = { mark: 'point', encoding: { [axis]: { ...along, field: 'value' }, shape } };
  const panels = distinct(data.map(({ category }) => category));
  const layer = [zero, intervalLayer(axis, along), points];
  return facets('category', panels, 2, { width: HALF_PANEL_WIDTH, ...others, layer });
}

/** The difference to text by category, one panel each; undefined where the data plan no contrast of categories. */
export function categoryFigure(results: RunResults): Figure | undefined {
  const { arms, contrast, run } = results;
  const baseline = baselineArm(arms)?.arm;
  if (contrast === undefined || baseline === undefined) return undefined;
  const shown = arms.filter(({ arm }) => arm !== baseline && isContender(results, arm));
  const data = categoryDifferences(shown);
  if (data.length === 0) return undefined;
  const names = distinct(data.map(({ arm }) => arm));
  const { color, shape } = namedArmEncoding(results, names);
  const words = data.map((one) => `${one.category}: ${one.arm} ${estimateText(one, 'points')}`);
  const title = `Task success (${taskSuccessMeaning(run)}) minus that of ${baseline}, by category, exploratory`;
  return {
    id: 'categories',
    title: `Figure F0. ${contrastFinding(contrast)}`,
    key: `${MEANS} By category all is exploratory but the planned contrast.`,
    description: `${title}, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: categoryPanels(data, 'x', baseline, {
      height: { step: 16 },
      encoding: { y: nameAxis('arm', names), color },
      shape,
    }),
  };
}

/**
 * The difference to text by size of model, one panel a category, in runs of the same data that plan a contrast, one per model.
 * @param arms the arms to draw
 */
export function modelSizeFigure(runs: readonly RunResults[], arms: readonly string[]): Figure | undefined {
  const bySize = runs
    .filter(({ contrast }) => contrast !== undefined)
    .toSorted((a, b) => (a.run.model.parameters ?? 0) - (b.run.model.parameters ?? 0));
  const data = bySize.flatMap((results) =>
    categoryDifferences(results.arms.filter(({ arm }) => arms.includes(arm))).map((one) => ({
      ...one,
      model: `${formatNumber((results.run.model.parameters ?? NaN) / 1e6, 0)} M`,
    })),
  );
  const [first] = bySize;
  const baseline = first && baselineArm(first.arms)?.arm;
  if (data.length === 0 || first === undefined || baseline === undefined) return undefined;
  const names = distinct(data.map(({ arm }) => arm));
  const { color, shape } = armEncoding(first, names);
  const models = distinct(data.map(({ model }) => model));
  const x = { field: 'model', type: 'nominal', sort: models, axis: { title: 'parameters', labelAngle: 0 } };
  const words = data.map((one) => `${one.category}, ${one.model}, ${one.arm}: ${estimateText(one, 'points')}`);
  const title = `Task success (${taskSuccessMeaning(first.run)}) minus that of ${baseline}`;
  return {
    id: 'model-size',
    title: `${title}, by size of model and kind of question`,
    key: MEANS,
    description: `${title}, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: categoryPanels(data, 'y', baseline, {
      height: 90,
      encoding: { x, xOffset: { field: 'arm', type: 'nominal', sort: names }, color },
      shape,
    }),
  };
}
