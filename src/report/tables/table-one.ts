import type { ArmResults, BreakdownPart, RunResults } from '../../store/records/results.ts';
import { countColumn, formatNumber, intervalColumn, type ItemBlock, numberColumn, type Table } from '../../render/table.ts'; // prettier-ignore
import { primaryArm } from '../compared-arms.ts';
import { loadNotes } from '../load-notes.ts';
import { metricNamed, namesItsMetric, ownMetrics, primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { intervalUnit } from '../verdict.ts';
import { armTable, hitRateColumn, timeColumn } from './arm-table.ts';

type Run = RunResults['run'];
type ArmBlock = ItemBlock<ArmResults>;

const named = (run: Run, ...names: readonly string[]): ShownMetric[] => names.map((name) => metricNamed(run, name)!);

const languageNames = new Intl.DisplayNames(['en'], { type: 'language' });

/** Table 1: quality, tokens and latency by arm. */
export function tableOne(results: RunResults): Table {
  const { run, arms } = results;
  const primary = primaryMetric(run);
  const items = countItems(results);
  const counts =
    run.unknownQuality === null
      ? `${items.answerable} answerable and ${items.absent} absent items`
      : `${run.dataset.items} items`;
  const hasFidelity = namesItsMetric(run) && arms.some((arm) => arm.fidelity !== undefined);
  return armTable(results, {
    id: 'table-1',
    title: `Table 1. Quality, tokens and latency by arm: ${run.dataset.name}, ${run.model.name}`,
    blocks: [
      {
        title: 'Quality',
        columns: [primary, ...ownMetrics(run), ...named(run, 'abstention', 'taskSuccess')].map((one) => one.column()),
      },
      ...(hasFidelity ? [fidelityBlock(results)] : []),
      ...languageBlocks(results),
      tokensBlock(arms),
      timeBlock,
      turnsBlock,
    ],
    notes: [
      ...loadNotes(run),
      `${counts} of ${run.dataset.users} users; means with 95 % intervals ${intervalUnit(run)}.`,
      primary.declared.ofAbsent
        ? `${primary.title} and task success are over all items, abstention over absent ones.`
        : `${primary.title} is over answerable items, abstention over absent ones, task success over both.`,
      ...silenceNote(items),
      ...evidenceNote(run, arms),
      cacheHitsNote(arms),
      'A turn without memories is a bypass. p95 needs 100 turns.',
    ],
  });
}

/** Tokens per turn; positions only if an arm's blocks share them, so that it fills more cells than positions. */
function tokensBlock(arms: readonly ArmResults[]): ArmBlock {
  const sharesPositions = ({ hitRate, tokens }: ArmResults): boolean =>
    hitRate !== null && tokens !== null && tokens.positions < tokens.prompt + tokens.kvResident;
  return {
    title: 'Tokens per turn (mean)',
    columns: [
      numberColumn('promptTokens', 'prompt', (arm) => arm.tokens?.prompt),
      numberColumn('kvResidentTokens', 'resident KV', (arm) => arm.tokens?.kvResident),
      numberColumn('evaluatedTokens', 'evaluated (cache hits)', (arm) => arm.tokens?.evaluated),
      numberColumn('generatedTokens', 'generated', (arm) => arm.tokens?.generated),
      numberColumn('evaluatedTokensMiss', 'evaluated (cache misses)', (arm) => arm.costMiss?.tokens.evaluated),
      numberColumn('evaluatedTokensAll', 'evaluated (all turns)', (arm) => arm.costAll?.tokens.evaluated),
      ...(arms.some(sharesPositions)
        ? [
            numberColumn<ArmResults>('positions', 'positions', (arm) =>
              sharesPositions(arm) ? arm.tokens?.positions : null,
            ),
          ]
        : []),
    ],
  };
}

const timeBlock: ArmBlock = {
  title: 'Time to first token (TTFT)',
  columns: [
    timeColumn('ttftMs', 'cache hits', ({ metrics }) => metrics.ttftMs),
    numberColumn('ttftP50Ms', 'p50 (ms)', ({ metrics }) => metrics.ttftMs?.p50),
    numberColumn('ttftP95Ms', 'p95 (ms)', ({ metrics }) => metrics.ttftMs?.p95),
    timeColumn('ttftMissMs', 'cache misses', ({ costMiss }) => costMiss?.ttftMs),
    timeColumn('ttftAllMs', 'all turns', ({ costAll }) => costAll?.ttftMs),
  ],
};

const turnsBlock: ArmBlock = {
  title: 'Turns',
  columns: [
    countColumn('hits', 'hits', ({ turns }) => turns.hit),
    countColumn('misses', 'misses', ({ turns }) => turns.miss),
    countColumn('bypasses', 'bypasses', ({ turns }) => turns.bypass),
    hitRateColumn,
    countColumn('errors', 'errors', ({ errors }) => errors),
  ],
};

/** How close an arm is to text: the probability of the gold answer, equal answers, and flips both ways. */
export function fidelityBlock({ run, comparisons }: RunResults): ArmBlock {
  const [gold, kl] = [metricNamed(run, 'goldLogProb')!, metricNamed(run, 'goldKl')!];
  const againstText = ({ arm }: ArmResults) => comparisons.find((one) => one.metric === gold.name && one.a === arm);
  return {
    title: 'Fidelity to the text of RAG',
    columns: [
      { ...gold.column<ArmResults>(), heading: `${gold.label} (${gold.unit} per token)` },
      gold.differenceColumn('goldDifference', 'Δ vs RAG', againstText),
      kl.column(),
      intervalColumn('sameAnswer', 'same answer (%)', ({ fidelity }) => fidelity?.sameAnswer, 100),
      countColumn('lost', 'right → wrong', ({ fidelity }) => fidelity?.lost),
      countColumn('won', 'wrong → right', ({ fidelity }) => fidelity?.won),
    ],
  };
}

/** The quality of each language, if there are several. */
function languageBlocks({ run, arms }: RunResults): ArmBlock[] {
  const parts = ({ breakdown }: ArmResults): BreakdownPart[] => breakdown.filter(({ field }) => field === 'language');
  const languages = [...new Set(arms.flatMap((arm) => parts(arm).map(({ value }) => value)))].sort();
  if (languages.length < 2) return [];
  const metrics = [primaryMetric(run), ...named(run, 'abstention', 'taskSuccess')];
  return languages.map((language) => ({
    title: `Quality, ${languageNames.of(language) ?? language}`,
    columns: metrics.map((metric) =>
      intervalColumn(`${language}:${metric.name}`, metric.heading, (arm) =>
        metric.cell(parts(arm).find(({ value }) => value === language)?.metrics ?? {}),
      ),
    ),
  }));
}

/** Answerable and absent items, by the arm that answered most. */
function countItems({ run, arms }: RunResults): { readonly answerable: number; readonly absent: number } {
  const { declared } = primaryMetric(run);
  const most = (metric: string) => Math.max(0, ...arms.map((arm) => arm.metrics[metric]?.n ?? 0));
  const absent = most('abstention');
  return { answerable: most(declared.name) - (declared.ofAbsent ? absent : 0), absent };
}

function silenceNote({ answerable, absent }: ReturnType<typeof countItems>): string[] {
  if (absent === 0) return [];
  const share = formatNumber((100 * absent) / (answerable + absent), 1);
  return [`Task success counts a declined absent item as right: an arm that declines every question has ${share} %.`];
}

/** The items of arms that are given the evidence, where it is not known for all. */
function evidenceNote({ dataset: { items, withoutEvidence = 0 } }: Run, arms: readonly ArmResults[]): string[] {
  const given = arms.filter(({ traits }) => traits.retrieves === 'evidence').map(({ arm }) => arm);
  if (withoutEvidence === 0 || given.length === 0) return [];
  return [
    `${given.join(', ')}: over the ${items - withoutEvidence} items with known evidence; ${withoutEvidence} have none. ` +
      'Differences are over the items that both arms have.',
  ];
}

function cacheHitsNote(arms: readonly ArmResults[]): string {
  const primary = primaryArm(arms);
  if (primary === undefined) {
    return 'Tokens and times are over all turns: without dki in the run there are no cache hits or misses.';
  }
  const { arm, n, turns, hitRate } = primary;
  const rate = hitRate === null ? '' : `, ${formatNumber(hitRate * 100, 0)} % of those with memories`;
  return (
    `Unless a heading says otherwise, tokens and times are over the cache hits of ${arm} (${turns.hit} of ${n} turns${rate}), the same ` +
    'turns for every arm. In a cache miss KV is built, and the time includes it.'
  );
}
