import type { ArmResults, RunResults } from '../../store/records/results.ts';
import { namesItsMetric, ownMetricsOf, primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { fidelityBlock, fidelityCells } from './fidelity-block.ts';
import { primaryOf } from '../verdict.ts';
import { languageBlocks, languageCells } from './language-blocks.ts';
import { intervalsOver } from '../users-text.ts';
import { loadNotes } from '../load-notes.ts';
import {
  type Block,
  captionOf,
  type Cell,
  countCell,
  estimateCell,
  formatNumber,
  meanCell,
  none,
  qualityCell,
  type Table,
} from '../../render/table.ts';

const TOKENS = 'Tokens a turn, mean';

const blocksWith = (primary: ShownMetric, own: readonly ShownMetric[]): readonly Block[] => [
  {
    title: 'Quality',
    columns: [
      primary.column(),
      ...own.map((metric) => metric.column()),
      { key: 'abstention', heading: 'abstention', unit: '%', align: 'right', interval: true },
      { key: 'taskSuccess', heading: 'task success', unit: '%', align: 'right', interval: true },
    ],
  },
  {
    title: TOKENS,
    columns: [
      { key: 'promptTokens', heading: 'prompt', align: 'right' },
      { key: 'kvResidentTokens', heading: 'K/V resident', align: 'right' },
      { key: 'evaluatedTokens', heading: 'evaluated', align: 'right' },
      { key: 'generatedTokens', heading: 'generated', align: 'right' },
      { key: 'evaluatedTokensMiss', heading: 'evaluated (miss)', align: 'right' },
      { key: 'evaluatedTokensAll', heading: 'evaluated (all)', align: 'right' },
    ],
  },
  {
    title: 'Time to first token',
    columns: [
      { key: 'ttftMs', heading: 'mean', unit: 'ms', align: 'right', interval: true },
      { key: 'ttftP50Ms', heading: 'p50', unit: 'ms', align: 'right' },
      { key: 'ttftP95Ms', heading: 'p95', unit: 'ms', align: 'right' },
      { key: 'ttftMissMs', heading: 'mean (miss)', unit: 'ms', align: 'right', interval: true },
      { key: 'ttftAllMs', heading: 'mean (all)', unit: 'ms', align: 'right', interval: true },
    ],
  },
  {
    title: 'Turns',
    columns: [
      { key: 'hits', heading: 'hit', align: 'right' },
      { key: 'misses', heading: 'miss', align: 'right' },
      { key: 'bypasses', heading: 'bypass', align: 'right' },
      { key: 'hitRate', heading: 'hit rate', unit: '%', align: 'right' },
      { key: 'errors', heading: 'errors', align: 'right' },
    ],
  },
];

/** Tells an arm whose blocks share positions, so that it fills more cells than positions. */
function sharesPositions({ hitRate, tokens }: ArmResults): boolean {
  return hitRate !== null && tokens !== null && tokens.positions < tokens.prompt + tokens.kvResident;
}

/** Adds a block for each language if there are several, and a column of positions if those of an arm differ from its cells. */
function blocksFor({ run, arms }: RunResults): readonly Block[] {
  const blocks = blocksWith(primaryMetric(run), ownMetricsOf(run));
  const positions: Block['columns'][number] = { key: 'positions', heading: 'positions', align: 'right' };
  const extended = arms.some(sharesPositions)
    ? blocks.map((block) => (block.title === TOKENS ? { ...block, columns: [...block.columns, positions] } : block))
    : blocks;
  const fidelity = arms.some((arm) => arm.fidelity !== undefined) && namesItsMetric(run) ? [fidelityBlock(run)] : [];
  return [...extended.slice(0, 1), ...fidelity, ...languageBlocks({ run, arms }), ...extended.slice(1)];
}

function cellsOf(
  run: RunResults['run'],
  { metrics, tokens, costMiss, costAll, turns, hitRate, errors }: ArmResults,
): Record<string, Cell> {
  const primary = primaryMetric(run);
  return {
    [primary.name]: primary.cell(metrics),
    ...Object.fromEntries(ownMetricsOf(run).map((metric) => [metric.name, metric.cell(metrics)])),
    abstention: qualityCell(run, estimateCell(metrics.abstention, 100)),
    taskSuccess: qualityCell(run, estimateCell(metrics.taskSuccess, 100)),
    promptTokens: meanCell(tokens?.prompt),
    kvResidentTokens: meanCell(tokens?.kvResident),
    evaluatedTokens: meanCell(tokens?.evaluated),
    generatedTokens: meanCell(tokens?.generated),
    evaluatedTokensMiss: meanCell(costMiss?.tokens.evaluated),
    evaluatedTokensAll: meanCell(costAll?.tokens.evaluated),
    ttftMs: estimateCell(metrics.ttftMs),
    ttftP50Ms: meanCell(metrics.ttftMs?.p50),
    ttftP95Ms: meanCell(metrics.ttftMs?.p95),
    ttftMissMs: estimateCell(costMiss?.ttftMs),
    ttftAllMs: estimateCell(costAll?.ttftMs),
    hits: countCell(turns.hit),
    misses: countCell(turns.miss),
    bypasses: countCell(turns.bypass),
    hitRate: hitRate === null ? none : meanCell(hitRate * 100),
    errors: countCell(errors),
  };
}

/** Items by the arm that answered most. */
function itemsOf({ run, arms }: RunResults): { readonly answerable: number; readonly absent: number } {
  const { declared } = primaryMetric(run);
  const most = (metric: string) => Math.max(0, ...arms.map((arm) => arm.metrics[metric]?.n ?? 0));
  const absent = most('abstention');
  return { answerable: most(declared.name) - (declared.ofAbsent ? absent : 0), absent };
}

/** `320 answerable and 80 absent items`. */
function itemCounts(results: RunResults): string {
  if (results.run.unknownQuality !== null) return `${results.run.dataset.items} items`;
  const { answerable, absent } = itemsOf(results);
  return `${answerable} answerable and ${absent} absent items`;
}

/** The task success of an arm that knows nothing and says so. */
function successOfSilence(results: RunResults): string[] {
  const { answerable, absent } = itemsOf(results);
  if (absent === 0) return [];
  const share = formatNumber((100 * absent) / (answerable + absent), 1);
  return [`Task success counts a declined absent item as right: an arm that declines every question has ${share} %.`];
}

/** The items that arms with the evidence were asked, where it is not known of all. */
function evidenceNote(
  { dataset: { items, withoutEvidence = 0 } }: RunResults['run'],
  arms: readonly ArmResults[],
): string[] {
  const given = arms.filter(({ traits }) => traits.retrieves === 'evidence').map(({ arm }) => arm);
  if (withoutEvidence === 0 || given.length === 0) return [];
  return [
    `${given.join(', ')}: over the ${items - withoutEvidence} items whose evidence is known; of ${withoutEvidence} it is not. ` +
      'Differences are over the items that both arms have.',
  ];
}

/** The set of turns that the columns of cost are over. */
function regimeNote(arms: readonly ArmResults[]): string {
  const primary = primaryOf(arms);
  if (primary === undefined) {
    return 'Tokens and times are over all turns: without dki in the run there are no cache hits or misses.';
  }
  const { arm, n, turns, hitRate } = primary;
  const rate = hitRate === null ? '' : `, ${formatNumber(hitRate * 100, 0)} % of those with memories`;
  return (
    `Tokens and times are over the cache hits of ${arm} (${turns.hit} of ${n} turns${rate}), the same turns for every arm; ` +
    '"(miss)" is over its cache misses, in which its K/V was built, the build included; "(all)" is over all turns.'
  );
}

/** Table 1: quality, tokens and latency by arm. */
export function tableOne(results: RunResults): Table {
  const { run, arms } = results;
  return {
    id: 'table-1',
    caption: captionOf(`Table 1. Quality, tokens and latency by arm: ${run.dataset.name}, ${run.model.name}`, results),
    rowHeading: 'arm',
    blocks: blocksFor(results),
    rows: arms.map((arm) => ({
      label: arm.arm,
      cells: {
        ...cellsOf(run, arm),
        ...(namesItsMetric(run) ? fidelityCells(results, arm) : {}),
        ...languageCells(run, arm),
        ...(sharesPositions(arm) ? { positions: meanCell(arm.tokens?.positions) } : {}),
      },
    })),
    notes: [
      ...loadNotes(run),
      `${itemCounts(results)} of ${run.dataset.users} users; means with 95 % intervals ${intervalsOver(run)}.`,
      primaryMetric(run).declared.ofAbsent
        ? `${primaryMetric(run).title} and task success are over all items, abstention over absent ones.`
        : `${primaryMetric(run).title} is over answerable items, abstention over absent ones, task success over both.`,
      ...successOfSilence(results),
      ...evidenceNote(run, arms),
      regimeNote(arms),
      'A turn without memories is a bypass. p95 is given from 100 turns.',
    ],
  };
}
