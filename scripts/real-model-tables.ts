import { primaryMetric, type ShownMetric, metricNamed } from '../src/report/shown-metric.ts';
import { comparisonOf } from '../src/report/comparison-of.ts';
import { intervalText, ratioText } from '../src/report/interval-text.ts';
import type { ArmResults, Comparison, CostName, RunResults } from '../src/store/records/results.ts';
import { type Cell, type Column, formatNumber, meanCell, none, type Table, textCell } from '../src/render/table.ts';
import { verdictText } from '../src/report/tables/comparisons-table.ts';
import { baselineOf, prefixCacheIn, primaryOf } from '../src/report/verdict.ts';

/** A table for a document, whose own words stand in place of caption and notes. */
export type BareTable = Omit<Table, 'id' | 'caption' | 'notes'>;

/** The run of a real model: its arms of text and of the exact prefix, and the comparisons by name. */
interface RealRun {
  readonly results: RunResults;
  readonly rag: ArmResults;
  readonly cached: ArmResults;
  readonly dki: ArmResults;
  readonly primary: ShownMetric;
}

/** @throws Error for a run without an arm that the README speaks of, a bug of its command */
function realRun(results: RunResults): RealRun {
  const [rag, cached, dki] = [baselineOf(results.arms), prefixCacheIn(results.arms), primaryOf(results.arms)];
  if (rag === undefined || cached === undefined || dki === undefined) {
    throw new Error(`${results.run.name}: rag, rag-cached and dki are needed`);
  }
  return { results, rag, cached, dki, primary: primaryMetric(results.run) };
}

/** A difference to `rag` in the unit of its metric; empty for `rag` itself. */
function differenceCell(metric: ShownMetric, compared: Comparison | undefined): Cell {
  if (compared === undefined) return none;
  return metric.difference({ mean: compared.delta, low: compared.low, high: compared.high });
}

/** Arms of the table that a reader sees first, best quality first. */
const HEADLINE = ['oracle', 'rag', 'rag-cached', 'dki', 'dki-link:8', 'dki-link:4', 'dki-blocks', 'none'];

/** Quality and price in one table: the primary metric, its difference to `rag`, tokens evaluated, and times ÷ text and prefix cache. */
export function headlineTable(results: RunResults): BareTable {
  const run = realRun(results);
  const { primary, rag, cached } = run;
  const columns: readonly Column[] = [
    primary.column(),
    { key: 'difference', heading: 'to rag', unit: primary.differenceUnit, align: 'right', interval: true },
    { key: 'tokens', heading: 'tokens evaluated, hits', align: 'right' },
    { key: 'rag', heading: `first token ÷ ${rag.arm}, hits`, align: 'right' },
    { key: 'cached', heading: `÷ ${cached.arm}, hits`, align: 'right' },
    { key: 'all', heading: `÷ ${cached.arm}, all turns`, align: 'right' },
  ];
  const ratio = (arm: string, other: string, metric: CostName): Cell =>
    ratioCell(comparisonOf(results, arm, other, metric));
  const shown = HEADLINE.flatMap((name) => results.arms.filter(({ arm }) => arm === name));
  return {
    rowHeading: 'arm',
    blocks: [{ columns }],
    rows: shown.map(({ arm, metrics, costHit, traits }) => {
      const isTimed = traits.retrieves === rag.traits.retrieves;
      return {
        label: arm,
        cells: {
          [primary.name]: primary.cell(metrics),
          difference: differenceCell(primary, comparisonOf(results, arm, rag.arm, primary.name)),
          tokens: meanCell(costHit?.tokens.evaluated),
          rag: isTimed ? ratio(arm, rag.arm, 'ttftLogRatio') : none,
          cached: isTimed ? ratio(arm, cached.arm, 'ttftLogRatio') : none,
          all: isTimed ? ratio(arm, cached.arm, 'ttftLogRatioAll') : none,
        },
      };
    }),
  };
}

/** A ratio of times; empty where none was compared. */
function ratioCell(compared: Comparison | undefined): Cell {
  return compared === undefined ? none : textCell(ratioText(compared));
}

/** The share that each arm keeps of the answers that text gives: the primary metric, its difference to `rag` and verdict, gold answers in nats. */
export function keptTable(results: RunResults): BareTable {
  const run = realRun(results);
  const { primary, rag } = run;
  const gold = metricNamed(results.run, 'goldLogProb')!;
  const columns: readonly Column[] = [
    primary.column(),
    { key: 'difference', heading: 'to rag', unit: primary.differenceUnit, align: 'right', interval: true },
    { key: 'verdict', heading: 'verdict', align: 'left' },
    { key: 'gold', heading: 'gold answer, to rag', unit: `${gold.unit} a token`, align: 'right', interval: true },
  ];
  return {
    rowHeading: 'arm',
    blocks: [{ columns }],
    rows: results.arms.map(({ arm, metrics }) => {
      const compared = comparisonOf(results, arm, rag.arm, primary.name);
      return {
        label: arm,
        cells: {
          [primary.name]: primary.cell(metrics),
          difference: differenceCell(primary, compared),
          verdict: compared === undefined ? none : textCell(verdictText(compared)),
          gold: differenceCell(gold, comparisonOf(results, arm, rag.arm, gold.name)),
        },
      };
    }),
  };
}

/** Metrics that are shown of a public set. */
const PUBLIC_METRICS = ['contains', 'tokenF1', 'goldLogProb'];

/** Of a public set, whose items are too few for verdicts: each metric of its own, and tokens evaluated. */
export function publicSetTable(results: RunResults): BareTable {
  const metrics = PUBLIC_METRICS.map((name) => metricNamed(results.run, name)!);
  const tokens: Column = { key: 'tokens', heading: 'tokens evaluated', align: 'right' };
  return {
    rowHeading: 'arm',
    blocks: [{ columns: [...metrics.map((metric) => metric.column()), tokens] }],
    rows: results.arms.map((arm) => ({
      label: arm.arm,
      cells: {
        ...Object.fromEntries(metrics.map((metric) => [metric.name, metric.cell(arm.metrics)])),
        tokens: meanCell(arm.costAll?.tokens.evaluated),
      },
    })),
  };
}

/** The cost of each arm: tokens evaluated, and the time to the first token ÷ that of `rag` and of `rag-cached`. */
export function costTable(results: RunResults): BareTable {
  const run = realRun(results);
  const { rag, cached } = run;
  const over: readonly {
    readonly key: string;
    readonly heading: string;
    readonly metric: CostName;
    readonly arm: string;
  }[] = [
    { key: 'hit', heading: `hits, ÷ ${rag.arm}`, metric: 'ttftLogRatio', arm: rag.arm },
    { key: 'hitCached', heading: `hits, ÷ ${cached.arm}`, metric: 'ttftLogRatio', arm: cached.arm },
    { key: 'all', heading: `all, ÷ ${rag.arm}`, metric: 'ttftLogRatioAll', arm: rag.arm },
    { key: 'allCached', heading: `all, ÷ ${cached.arm}`, metric: 'ttftLogRatioAll', arm: cached.arm },
  ];
  const shown = results.arms.filter(
    ({ arm, traits }) =>
      arm === rag.arm || arm === cached.arm || (traits.injects !== 'nothing' && traits.control === null),
  );
  return {
    rowHeading: 'arm',
    blocks: [
      {
        columns: [
          { key: 'tokensHit', heading: 'tokens evaluated, hits', align: 'right' },
          { key: 'tokensAll', heading: 'all turns', align: 'right' },
          ...over.map(({ key, heading }, place): Column => {
            return { key, heading: place === 0 ? `first token, ${heading}` : heading, align: 'right' };
          }),
        ],
      },
    ],
    rows: shown.map(({ arm, costHit, costAll }) => ({
      label: arm,
      cells: {
        tokensHit: meanCell(costHit?.tokens.evaluated),
        tokensAll: meanCell(costAll?.tokens.evaluated),
        ...Object.fromEntries(
          over.map(({ key, metric, arm: other }) => [key, ratioCell(comparisonOf(results, arm, other, metric))]),
        ),
      },
    })),
  };
}

/** The cost of each arm on a server, the time to the first token in milliseconds besides, and what an arm keeps of the text's answers. */
export function serverTable(results: RunResults): BareTable {
  const { primary } = realRun(results);
  const { rowHeading, blocks, rows } = costTable(results);
  const own: readonly Column[] = [
    primary.column(),
    { key: 'ms', heading: 'first token, hits, median', unit: 'ms', align: 'right' },
  ];
  return {
    rowHeading,
    blocks: blocks.map(({ columns }) => ({ columns: [...own, ...columns] })),
    rows: rows.map(({ label, cells }) => {
      const { metrics, costHit } = results.arms.find(({ arm }) => arm === label)!;
      const median = costHit?.ttftMs.p50;
      const ms: Cell = median === undefined ? none : { kind: 'number', value: median, digits: 0 };
      return { label, cells: { [primary.name]: primary.cell(metrics), ms, ...cells } };
    }),
  };
}

/** `13.7 [6.4, 21.6]`, in points. */
function lossText({ primary }: RealRun, { delta, low, high }: Comparison): string {
  const { scale, digits } = primary;
  return intervalText([-delta * scale, -high * scale, -low * scale], digits);
}

/** Of an arm of `dki-link`, the tokens of each block that it recomputes. */
const LINK = /^dki-link:(\d+|all)$/;

/** The finding in words that can be quoted: what joined blocks lose, what recomputing returns, what the exact prefix saves. */
export function finding(results: RunResults): string {
  const run = realRun(results);
  const { rag, cached, dki, primary } = run;
  const { dataset, model } = results.run;
  const kept = (arm: string): Comparison => comparisonOf(results, arm, rag.arm, primary.name)!;
  const time = (other: ArmResults, metric: CostName): string =>
    ratioText(comparisonOf(results, dki.arm, other.arm, metric)!);
  const exact = kept(dki.arm);
  const none = `none, the same on ${exact.n} of ${exact.n} questions`;
  const unit = primary.differenceUnit;
  const recomputed = results.arms.flatMap(({ arm }) => {
    const tokens = LINK.exec(arm)?.[1];
    return tokens === undefined ? [] : [`${tokens}: ${lossText(run, kept(arm))}`];
  });
  return [
    `> On \`${model.name}\`, ${dataset.items} questions of ${dataset.users} users, answers lost against the same memories as text (${primary.label}):`,
    '>',
    `> - one **exact K/V prefix** (\`${dki.arm}\`): ${exact.verdict === 'identical' ? none : `${lossText(run, exact)} ${unit}`};`,
    `> - **joined K/V blocks** (\`dki-blocks\`): ${lossText(run, kept('dki-blocks'))} ${unit};`,
    `> - joined, the first k tokens of each block **recomputed** (\`dki-link:k\`), in ${unit}, ${recomputed.join('; ')}.`,
    '>',
    `> Where the same memories come back, the first token of the exact prefix takes **${time(rag, 'ttftLogRatio')} of the time of cold text,`,
    `> and ${time(cached, 'ttftLogRatio')} of that of a prefix cache**; over all turns (hit rate ${formatNumber(100 * dki.hitRate!, 0)} %)`,
    `> ${time(rag, 'ttftLogRatioAll')} and ${time(cached, 'ttftLogRatioAll')}.`,
  ].join('\n');
}
