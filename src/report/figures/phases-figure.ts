import { type Figure, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/table.ts';
import type { ConditionResults, PhaseMeans, RunResults } from '../../store/records/results.ts';
import { baselineArm, joinedArm, primaryArm } from '../compared-arms.ts';
import { isContender } from './arm-marks.ts';
import { categories, distinct, estimateFields, facets, layer, quantity } from './figure-parts.ts';
import { capitalised, changeFinding } from './finding.ts';

/** The phases of the time, from the axis upwards; light and dark alternate, for print. */
const phases: readonly { name: string; colour: string; ms: (means: PhaseMeans) => number }[] = [
  { name: 'retrieval, assembly', colour: '#8a8a8a', ms: ({ retrieve, assemble }) => retrieve + assemble },
  { name: 'gate', colour: '#b8860b', ms: ({ gate }) => gate },
  { name: 'load KV', colour: '#56a0d3', ms: ({ kvLoad }) => kvLoad },
  { name: 'build KV', colour: '#c2571a', ms: ({ kvCompute }) => kvCompute },
  { name: 'evaluate', colour: '#3d5a9e', ms: ({ prefill }) => prefill },
  {
    name: 'rest',
    colour: '#b9b9b9',
    ms: ({ retrieve, assemble, gate, kvLoad, kvCompute, prefill, firstToken }) =>
      Math.max(0, firstToken - retrieve - assemble - gate - kvLoad - kvCompute - prefill),
  },
];

/** Tokens of the memories under a condition, by the first arm: all arms are given the same memories. */
function tokensLabel(conditions: readonly ConditionResults[], condition: number): string {
  return formatNumber(conditions.find((one) => one.condition === condition)!.memories.tokens, 0);
}

/** Growth of the time with the memories: of the baseline, the primary arm, and the first planned one that injects. */
function phasesFinding({ arms }: RunResults, conditions: readonly ConditionResults[]): string {
  const usual = [baselineArm(arms), primaryArm(arms), joinedArm(arms)].flatMap((arm) => arm?.arm ?? []);
  const drawn = [...new Set(conditions.map(({ arm }) => arm))];
  const named = usual.some((arm) => drawn.includes(arm)) ? usual : drawn.slice(0, 1);
  const steps = conditions.map(({ condition }) => condition);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const clauses = named.flatMap((arm) => {
    const [from, to] = [first, last].map((step) => conditions.find((one) => one.arm === arm && one.condition === step));
    if (from === undefined || to === undefined) return [];
    const measured = ({ phasesMs, metrics: { ttftMs } }: ConditionResults) => ({
      mean: phasesMs.firstToken,
      low: ttftMs?.low ?? null,
      high: ttftMs?.high ?? null,
    });
    return [`of ${arm} ${changeFinding(measured(from), measured(to), 'ms')}`];
  });
  const range = `from ${tokensLabel(conditions, first)} to ${tokensLabel(conditions, last)} memory tokens`;
  return `${capitalised(range)}, time to the first token ${clauses.join(', ')}`;
}

/** Figure F2: time to the first token by tokens of memory, stacked by phase; undefined without conditions. */
export function phasesFigure(results: RunResults): Figure | undefined {
  const conditions = results.conditions.filter(
    ({ arm, place, n }) => place === null && n > 0 && isContender(results, arm),
  );
  const arms = distinct(conditions.map(({ arm }) => arm));
  const used = phases.filter(({ ms }) => conditions.some(({ phasesMs }) => ms(phasesMs) > 0));
  const data = conditions.flatMap(({ arm, condition, phasesMs, metrics }) => {
    const { low, high } = metrics.ttftMs === null ? { low: null, high: null } : estimateFields(metrics.ttftMs);
    return used.map(({ name, ms }, order) => ({
      ...{ arm, memories: condition, memoryTokens: tokensLabel(conditions, condition), phase: name, order },
      ...{ ms: ms(phasesMs), ttftMs: phasesMs.firstToken, ttftLow: low, ttftHigh: high },
    }));
  });
  if (data.length === 0) return undefined;
  const steps = [...new Set(conditions.map(({ condition }) => condition))].sort((a, b) => a - b);
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const time = (arm: string, condition: number) => {
    const found = conditions.find((one) => one.arm === arm && one.condition === condition);
    return formatNumber(found?.phasesMs.firstToken ?? NaN, 1);
  };
  const colours = Object.fromEntries(used.map(({ name, colour }) => [name, colour]));
  const words = arms.map((arm) => `${arm} from ${time(arm, first)} to ${time(arm, last)} ms`);
  return {
    id: 'phases',
    title: `Figure F2. ${phasesFinding(results, conditions)}`,
    key: 'Bars are means over all turns, the line the 95 % interval of the whole.',
    description:
      `Means over all turns, cache hits and misses, from ${tokensLabel(conditions, first)} to ` +
      `${tokensLabel(conditions, last)} memory tokens: ${words.join('; ')}. The line is the 95 % interval of the whole.`,
    data,
    spec: facets('arm', arms, 2, {
      width: HALF_PANEL_WIDTH,
      height: 110,
      encoding: {
        x: {
          field: 'memoryTokens',
          type: 'ordinal',
          sort: steps.map((step) => tokensLabel(conditions, step)),
          axis: { title: 'Memory tokens', labelAngle: 0, labelSeparation: 1 },
        },
      },
      layer: [
        {
          mark: { type: 'bar', stroke: 'currentColor', strokeWidth: 0.3 },
          encoding: {
            y: { field: 'ms', ...quantity('Time, ms', {}, { tickCount: 4 }) },
            color: categories('phase', colours, { symbolType: 'square', columns: 3 }),
            order: { field: 'order' },
          },
        },
        layer(
          'isValid(datum.ttftLow) && datum.order == 0',
          { type: 'rule', color: 'currentColor' },
          { y: { field: 'ttftLow', type: 'quantitative' }, y2: { field: 'ttftHigh' } },
        ),
      ],
    }),
  };
}
