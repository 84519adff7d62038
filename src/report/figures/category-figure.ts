import { contrastName } from '../../eval/analysis/summary/planned-contrast.ts';
import { type Figure, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatInterval, formatNumber } from '../../render/format-number.ts';
import type { ArmResults, RunResults } from '../../store/records/run-results.ts';
import { baselineArm } from '../find-arms-and-comparisons.ts';
import { taskSuccessMeaning } from '../metric-display.ts';
import { fieldValues, findPart } from '../tables/breakdown-tables.ts';
import { armEncoding, isContender, namedArmEncoding } from './arm-encoding.ts';
import { distinct, estimateFields, estimateText, facets, intervalLayer, MEANS, measuredScale, nameAxis, quantity, zeroRule } from './figure-parts.ts'; // prettier-ignore
import { sizeText } from '../verdict-wording.ts';

function contrastFinding(contrast: NonNullable<RunResults['contrast']>): string {
  const { planned, found } = contrast;
  const [first, second] = planned.categories;
  if (found.state === 'absent')
    return `The planned contrast, ${contrastName(planned)}, was not measured (${found.why})`;
  const against = `against ${planned.reference} on ${first}`;
  const { verdict, delta, low, high } = found;
  if (verdict !== 'higher' && verdict !== 'lower') {
    const signed = formatInterval([100 * delta, 100 * low, 100 * high], 1);
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
  const y = nameAxis('arm', names);
  const x = quantity(`Δ vs ${baseline}, points`, measuredScale([...data, { value: 0 }]), { tickCount: 4, grid: true });
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
      encoding: { y, color },
      layer: [
        zeroRule('x', { y: null }, 'category'),
        intervalLayer('x', x),
        { mark: 'point', encoding: { x: { ...x, field: 'value' }, shape } },
      ],
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
  const y = quantity(`Δ vs ${baseline}, points`, measuredScale([...data, { value: 0 }]), { tickCount: 4, grid: true });
  const words = data.map((one) => `${one.category}, ${one.model}, ${one.arm}: ${estimateText(one, 'points')}`);
  const title = `Task success (${taskSuccessMeaning(first.run)}) minus that of ${baseline}`;
  return {
    id: 'model-size',
    title: `${title}, by size of model and kind of question`,
    key: MEANS,
    description: `${title}, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: facets('category', distinct(data.map(({ category }) => category)), 2, {
      width: HALF_PANEL_WIDTH,
      height: 90,
      encoding: { x, xOffset: { field: 'arm', type: 'nominal', sort: names }, color },
      layer: [
        zeroRule('y', { x: null, xOffset: null }, 'category'),
        intervalLayer('y', y),
        { mark: 'point', encoding: { y: { ...y, field: 'value' }, shape } },
      ],
    }),
  };
}
