import type { ArmResults, RunResults } from '../../eval/results.ts';
import { languageBlocks, languageCells } from './language-blocks.ts';
import {
  type Block,
  captionOf,
  type Cell,
  countCell,
  estimateCell,
  meanCell,
  none,
  qualityCell,
  type Table,
} from '../table.ts';

const TOKENS = 'Tokens a turn, mean';

const blocks: readonly Block[] = [
  {
    title: 'Quality',
    columns: [
      { key: 'exactMatch', heading: 'exact match', unit: '%', align: 'right', interval: true },
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
      { key: 'evaluatedTokensNew', heading: 'evaluated (new)', align: 'right' },
    ],
  },
  {
    title: 'Time to first token',
    columns: [
      { key: 'ttftMs', heading: 'mean', unit: 'ms', align: 'right', interval: true },
      { key: 'ttftP50Ms', heading: 'p50', unit: 'ms', align: 'right' },
      { key: 'ttftP95Ms', heading: 'p95', unit: 'ms', align: 'right' },
      { key: 'ttftNewMs', heading: 'mean (new)', unit: 'ms', align: 'right', interval: true },
    ],
  },
  {
    title: 'Turns',
    columns: [
      { key: 'newTurns', heading: 'new', align: 'right' },
      { key: 'seenTurns', heading: 'seen', align: 'right' },
      { key: 'exemptTurns', heading: 'exempt', align: 'right' },
      { key: 'hitRate', heading: 'hit rate', unit: '%', align: 'right' },
      { key: 'errors', heading: 'errors', align: 'right' },
    ],
  },
];

/** Blocks that share positions fill more cells than positions; elsewhere the two are the same. */
function sharesPositions({ hitRate, tokens }: ArmResults): boolean {
  return hitRate !== null && tokens !== null && tokens.positions < tokens.prompt + tokens.kvResident;
}

/** With a block for each language where there are several, and a column for positions where an arm's differ from its cells. */
function blocksFor(arms: readonly ArmResults[]): readonly Block[] {
  const positions: Block['columns'][number] = { key: 'positions', heading: 'positions', align: 'right' };
  const extended = arms.some(sharesPositions)
    ? blocks.map((block) => (block.title === TOKENS ? { ...block, columns: [...block.columns, positions] } : block))
    : blocks;
  return [...extended.slice(0, 1), ...languageBlocks(arms), ...extended.slice(1)];
}

function cellsOf(
  run: RunResults['run'],
  { metrics, tokens, costNew, turns, hitRate, errors }: ArmResults,
): Record<string, Cell> {
  return {
    exactMatch: qualityCell(run, estimateCell(metrics.exactMatch, 100)),
    abstention: qualityCell(run, estimateCell(metrics.abstention, 100)),
    taskSuccess: qualityCell(run, estimateCell(metrics.taskSuccess, 100)),
    promptTokens: meanCell(tokens?.prompt),
    kvResidentTokens: meanCell(tokens?.kvResident),
    evaluatedTokens: meanCell(tokens?.evaluated),
    generatedTokens: meanCell(tokens?.generated),
    evaluatedTokensNew: meanCell(costNew?.tokens.evaluated),
    ttftMs: estimateCell(metrics.ttftMs),
    ttftP50Ms: meanCell(metrics.ttftMs?.p50),
    ttftP95Ms: meanCell(metrics.ttftMs?.p95),
    ttftNewMs: estimateCell(costNew?.ttftMs),
    newTurns: countCell(turns.new),
    seenTurns: countCell(turns.seen),
    exemptTurns: countCell(turns.exempt),
    hitRate: hitRate === null ? none : meanCell(hitRate * 100),
    errors: countCell(errors),
  };
}

/** `320 answerable and 80 absent items` of the arm that answered most. */
function itemCounts({ run, arms }: RunResults): string {
  if (run.unknownQuality !== null) return `${run.dataset.items} items`;
  const most = (metric: 'exactMatch' | 'abstention') => Math.max(0, ...arms.map((arm) => arm.metrics[metric]?.n ?? 0));
  return `${most('exactMatch')} answerable and ${most('abstention')} absent items`;
}

/** Which turns the columns of cost are over. */
function regimeNote(arms: readonly ArmResults[]): string {
  return arms.some(({ arm }) => arm === 'dki')
    ? 'Tokens and times are over the turns whose K/V set dki had seen before, the same turns for every arm; ' +
        '"(new)" is over the turns in which it was built, the build included.'
    : 'Tokens and times are over all turns: without dki in the run no turn is new or seen.';
}

/** Table 1: quality, tokens and latency by arm. */
export function tableOne(results: RunResults): Table {
  const { run, arms } = results;
  return {
    id: 'table-1',
    caption: captionOf(`Table 1. Quality, tokens and latency by arm: ${run.dataset.name}, ${run.model.name}`, results),
    rowHeading: 'arm',
    blocks: blocksFor(arms),
    rows: arms.map((arm) => ({
      label: arm.arm,
      cells: {
        ...cellsOf(run, arm),
        ...languageCells(run, arm),
        ...(sharesPositions(arm) ? { positions: meanCell(arm.tokens?.positions) } : {}),
      },
    })),
    notes: [
      `${itemCounts(results)} of ${run.dataset.users} users; means with 95 % intervals over users.`,
      'Exact match is over answerable items, abstention over absent ones, task success over both.',
      regimeNote(arms),
      'Turns that kept no memory are exempt. p95 is given from 100 turns.',
    ],
  };
}
