import type { ArmResults, MethodResults, RunResults } from '../../store/records/results.ts';
import { comparisonOf } from '../comparison-of.ts';
import { metricNamed, primaryMetric } from '../shown-metric.ts';
import {
  type Block,
  captionOf,
  type Cell,
  estimateCell,
  meanCell,
  none,
  qualityCell,
  type Table,
  textCell,
} from '../../render/table.ts';
import { baselineOf, primaryOf } from '../verdict.ts';
import { probabilityCell } from './comparisons-table.ts';
import { fidelityBlock, fidelityCells } from './fidelity-block.ts';
import { frontierOf } from './method-frontier.ts';

const right = { align: 'right' } as const;

function blocksOf(run: RunResults['run']): readonly Block[] {
  const primary = primaryMetric(run);
  const f1 = metricNamed(run, 'tokenF1')!;
  const difference = { ...right, unit: primary.differenceUnit, interval: true } as const;
  return [
    {
      title: 'Price',
      columns: [
        { align: 'left', key: 'budget', heading: 'budget' },
        { ...right, key: 'bytes', heading: 'K/V a memory token', unit: 'bytes' },
        { ...right, key: 'recomputed', heading: 'recomputed', unit: 'tokens' },
        { ...right, key: 'evaluated', heading: 'evaluated', unit: 'tokens' },
        { ...right, key: 'firstLayers', heading: 'through first layers', unit: 'tokens' },
        { ...right, key: 'timesQueryOnly', heading: 'first token', unit: '× query-only', interval: true },
        { ...right, key: 'timesRag', heading: 'first token', unit: '× rag', interval: true },
      ],
    },
    {
      title: 'Quality',
      columns: [
        primary.column(),
        { ...difference, key: 'difference', heading: 'less that of rag' },
        { ...right, key: 'kept', heading: 'kept of rag', unit: '%' },
        ...(primary.name === f1.name ? [] : [f1.column()]),
        { align: 'left', key: 'frontier', heading: 'on the frontier' },
      ],
    },
    fidelityBlock(run),
    {
      title: 'Against as many tokens drawn at random',
      columns: [
        { align: 'left', key: 'control', heading: 'control' },
        { ...difference, key: 'againstRandom', heading: 'less that of it' },
        { ...right, key: 'p', heading: 'p (Holm)' },
        { align: 'left', key: 'outcome', heading: 'outcome' },
      ],
    },
  ];
}

function priceCells(results: RunResults, method: MethodResults, { tokens }: ArmResults): Record<string, Cell> {
  const text = comparisonOf(results, method.arm, baselineOf(results.arms)?.arm, 'ttftLogRatio');
  return {
    budget: method.budget === null ? none : textCell(method.budget),
    bytes:
      method.bytesPerMemoryToken === null ? none : { kind: 'number', value: method.bytesPerMemoryToken, digits: 0 },
    recomputed: meanCell(method.recomputedTokens),
    evaluated: meanCell(tokens?.evaluated),
    firstLayers: meanCell(tokens?.firstLayers),
    timesQueryOnly: estimateCell(method.timesQueryOnly, 1, 2),
    timesRag:
      text === undefined
        ? none
        : estimateCell({ mean: Math.exp(text.delta), low: Math.exp(text.low), high: Math.exp(text.high) }, 1, 2),
  };
}

function qualityCells(results: RunResults, method: MethodResults, arm: ArmResults): Record<string, Cell> {
  const { run, arms } = results;
  const primary = primaryMetric(run);
  const compared = comparisonOf(results, method.arm, baselineOf(arms)?.arm, primary.name);
  return {
    [primary.name]: primary.cell(arm.metrics),
    difference:
      compared === undefined
        ? none
        : primary.difference({ mean: compared.delta, low: compared.low, high: compared.high }),
    kept: qualityCell(run, meanCell(keptOf(results, arm))),
    tokenF1: metricNamed(run, 'tokenF1')!.cell(arm.metrics),
  };
}

/** The primary metric of an arm in % of the baseline's; undefined where it is no share, or nothing is left to keep. */
export function keptOf({ run, arms }: Pick<RunResults, 'run' | 'arms'>, arm: ArmResults): number | undefined {
  const primary = primaryMetric(run);
  const [own, text] = [primary.of(arm.metrics), primary.of(baselineOf(arms)?.metrics ?? {})];
  if (own === null || text === null || primary.unit !== '%' || text.mean === 0) return undefined;
  return (100 * own.mean) / text.mean;
}

function randomCells(run: RunResults['run'], { againstRandom }: MethodResults): Record<string, Cell> {
  if (againstRandom === null) return {};
  const { b, delta, low, high, pAdjusted, outcome } = againstRandom;
  return {
    control: textCell(b),
    againstRandom: primaryMetric(run).difference({ mean: delta, low, high }),
    p: probabilityCell(pAdjusted),
    outcome: textCell(outcome),
  };
}

/** How the data divide choosing from reporting. */
function splitNote({ dataset: { split } }: RunResults['run']): string {
  if (split === 'development') return 'Development users: a method is chosen here, and reported on test users.';
  if (split === 'test') return 'Test users: the method that is reported was chosen on development users.';
  return 'These data have no split of users: a method that is chosen here must be tested on others.';
}

/** Table 11: the frontier of price and quality; undefined for a run of another suite. */
export function methodsTable(results: RunResults): Table | undefined {
  const { run, methods } = results;
  if (methods === undefined) return undefined;
  const byName = new Map(results.arms.map((arm) => [arm.arm, arm]));
  const frontier = frontierOf(results);
  const primary = primaryOf(results.arms)?.arm;
  return {
    id: 'table-11',
    caption: captionOf(`Table 11. Methods at equal budgets, what they cost and keep: ${run.dataset.name}`, results),
    rowHeading: 'arm',
    blocks: blocksOf(run),
    rows: [
      ...methods.map((method) => {
        const arm = byName.get(method.arm)!;
        return {
          label: method.arm,
          cells: {
            ...priceCells(results, method, arm),
            ...qualityCells(results, method, arm),
            ...fidelityCells(results, arm),
            frontier: frontier.has(method.arm) ? textCell('yes') : none,
            ...randomCells(run, method),
          },
        };
      }),
      ...run.armsNotRun.map(({ arm, why }) => ({ label: arm, cells: { budget: textCell(`not run: ${why}`) } })),
    ],
    notes: [
      ...(primary === undefined
        ? [
            'Tokens and times are over all turns: without dki in the run there are no cache hits, and no query-only time.',
          ]
        : [
            `Tokens and times are over the cache hits of ${primary}, the same turns for every arm. Query-only: the first token of ${primary} less`,
            'what it took to load its K/V. Runs of recomputed tokens are loaded, evaluated and spliced one by one: an upper bound of a kernel.',
          ]),
      'K/V a memory token: keys and values as they are kept, the header apart; those of text arms are not kept by the bench.',
      'On the frontier: no other arm that can be deployed is both faster and as good, or as fast and better, by these means.',
      `Tested, as one family: each method against as many tokens drawn at random, by ${primaryMetric(run).label}, sign-flip over users. Bounds are not.`,
      splitNote(run),
    ],
  };
}
