import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { ArmResults, RunResults } from '../../store/records/run-results.ts';
import { untestedMetrics } from '../../eval/analysis/metrics/built-in-metrics.ts';
import { answersControlItems } from '../../eval/analysis/planned-sample.ts';
import { countColumn, intervalColumn, type ItemBlock, numberColumn, type Table, titled } from '../../render/table.ts';
import { formatNumber } from '../../render/format-number.ts';
import { primaryArm } from '../find-arms-and-comparisons.ts';
import {
  metricsNamed,
  namesItsMetric,
  ownMetrics,
  plansContrast,
  primaryMetric,
  type MetricDisplay,
} from '../metric-display.ts';
import { intervalUnit } from '../verdict-sentences.ts';
import { armTable, hitRateColumn, timingNotes } from './table-parts.ts';
import { fieldValues, findPart, supersededNote } from '../topics/categories.ts';

type ArmBlock = ItemBlock<ArmResults>;

const languageNames = new Intl.DisplayNames(['en'], { type: 'language' });

export function armResultsTable(results: RunResults): Table {
  const { run, arms } = results;
  const primary = primaryMetric(run);
  /** The largest count of items over the arms: an arm leaves out its failed turns. */
  const largestCount = (metric: string) => Math.max(0, ...arms.map((arm) => arm.metrics[metric]?.n ?? 0));
  const absent = largestCount('abstention');
  const answerable = largestCount(primary.name) - (primary.declared.ofAbsent ? absent : 0);
  const ofDeclining = formatNumber((100 * absent) / (answerable + absent), 1);
  const counts =
    run.unknownQuality === null ? `${answerable} answerable and ${absent} absent items` : `${run.dataset.items} items`;
  const isKnown = (name: string): boolean => arms.some(({ metrics }) => (metrics[name] ?? null) !== null);
  const untested = untestedMetrics.map(({ name }) => name).filter(isKnown);
  const metrics = [primary, ...ownMetrics(run), ...metricsNamed(run, 'abstention', 'taskSuccess', ...untested)];
  const quality = metrics.map((one) => one.column<ArmResults>());
  const hasFidelity = namesItsMetric(run) && arms.some((arm) => arm.fidelity !== undefined);
  return armTable(results, {
    id: 'table-1',
    title: `Table 1. Quality, tokens and latency by arm: ${run.dataset.name}, ${run.model.name}`,
    blocks: [
      titled('Quality', quality),
      hasFidelity && fidelityBlock(results),
      ...languageBlocks(results),
      tokensBlock(arms),
      timeBlock(arms),
      turnsBlock,
    ],
    notes: [
      ...timingNotes(run),
      `${counts} of ${run.dataset.users} users; means with 95 % intervals ${intervalUnit(run)}.`,
      primary.declared.ofAbsent
        ? `${primary.title} and task success are over all items, abstention over absent ones.`
        : `${primary.title} is over answerable items, abstention over absent ones, task success over both.`,
      absent > 0 &&
        `Task success counts a declined absent item as right: an arm that declines every question has ${ofDeclining} %.`,
      isKnown('superseded') && supersededNote,
      plansContrast(run) && 'Quality here is over all categories together; table 1c has each.',
      ...fewerItemsNotes(results),
      cacheHitsNote(arms),
      'A turn without memories is a bypass. p95 needs 100 turns.',
    ],
  });
}

/** Tokens per turn. The column of positions is shown only if some arm has more cells than positions. */
function tokensBlock(arms: readonly ArmResults[]): ArmBlock {
  const sharesPositions = ({ hitRate, tokens }: ArmResults): boolean =>
    hitRate !== null && tokens !== null && tokens.positions < tokens.prompt + tokens.kvResident;
  const hasHits = primaryArm(arms) !== undefined;
  const evaluated = `evaluated (${hasHits ? 'cache hits' : 'all turns'})`;
  return titled('Tokens per turn (mean)', [
    numberColumn('promptTokens', 'prompt', ({ tokens }) => tokens?.prompt),
    numberColumn('kvResidentTokens', 'resident KV', ({ tokens }) => tokens?.kvResident),
    numberColumn('evaluatedTokens', evaluated, ({ tokens }) => tokens?.evaluated),
    numberColumn('generatedTokens', 'generated', ({ tokens }) => tokens?.generated),
    hasHits &&
      numberColumn('evaluatedTokensMiss', 'evaluated (cache misses)', ({ costMiss }) => costMiss?.tokens.evaluated),
    hasHits && numberColumn('evaluatedTokensAll', 'evaluated (all turns)', ({ costAll }) => costAll?.tokens.evaluated),
    arms.some(sharesPositions) &&
      numberColumn('positions', 'positions', (arm) => (sharesPositions(arm) ? arm.tokens?.positions : null)),
  ]);
}

function timeBlock(arms: readonly ArmResults[]): ArmBlock {
  const hasHits = primaryArm(arms) !== undefined;
  return titled('Time to first token (TTFT)', [
    intervalColumn('ttftMs', `${hasHits ? 'cache hits' : 'all turns'} (ms)`, ({ metrics }) => metrics.ttftMs),
    numberColumn('ttftP50Ms', 'p50 (ms)', ({ metrics: { ttftMs } }) => (ttftMs?.n === 1 ? null : ttftMs?.p50)),
    numberColumn('ttftP95Ms', 'p95 (ms)', ({ metrics }) => metrics.ttftMs?.p95),
    hasHits && intervalColumn('ttftMissMs', 'cache misses (ms)', ({ costMiss }) => costMiss?.ttftMs),
    hasHits && intervalColumn('ttftAllMs', 'all turns (ms)', ({ costAll }) => costAll?.ttftMs),
  ]);
}

/** Turns by the arm's own cache; none for an arm that stores no KV, for which older runs have those of the primary arm. */
const ownTurns = (key: string, kind: keyof ArmResults['turns']) =>
  countColumn<ArmResults>(key, `own ${key}`, ({ hitRate, turns }) => (hitRate === null ? null : turns[kind]));

const turnsBlock: ArmBlock = titled('Turns', [
  ownTurns('hits', 'hit'),
  ownTurns('misses', 'miss'),
  ownTurns('bypasses', 'bypass'),
  hitRateColumn,
  countColumn('errors', 'errors', ({ errors }) => errors),
]);

/** How close an arm is to text: probability of the gold answer, share of equal answers, and flips in both directions. */
export function fidelityBlock({ run, comparisons }: RunResults): ArmBlock {
  const [gold, kl] = metricsNamed(run, 'goldLogProb', 'goldKl') as [MetricDisplay, MetricDisplay];
  const againstText = ({ arm }: ArmResults) => comparisons.find((one) => one.metric === gold.name && one.a === arm);
  return titled('Fidelity to the text of RAG', [
    { ...gold.column<ArmResults>(), heading: `${gold.label} (${gold.unit} per token)` },
    gold.differenceColumn('goldDifference', 'Δ vs RAG', againstText),
    kl.column(),
    intervalColumn('sameAnswer', 'same answer (%)', ({ fidelity }) => fidelity?.sameAnswer, 100),
    countColumn('lost', 'right → wrong', ({ fidelity }) => fidelity?.lost),
    countColumn('won', 'wrong → right', ({ fidelity }) => fidelity?.won),
  ]);
}

function languageBlocks({ run, arms }: RunResults): ArmBlock[] {
  const languages = fieldValues(arms, 'language').sort();
  if (languages.length < 2) return [];
  const metrics = [primaryMetric(run), ...metricsNamed(run, 'abstention', 'taskSuccess')];
  return languages.map((language) => {
    const columns = metrics.map(({ name, heading, cell }) =>
      intervalColumn(`${language}:${name}`, heading, (arm: ArmResults) =>
        cell(findPart(arm, 'language', language)?.metrics),
      ),
    );
    return titled(`Quality, ${languageNames.of(language) ?? language}`, columns);
  });
}

/** Notes on arms that answer some of the items alone: those with known evidence, or a sample. */
function fewerItemsNotes({ run: { dataset }, arms }: RunResults): string[] {
  const { items, withoutEvidence = 0, controlItems = items } = dataset;
  const note = (isLimited: (traits: ArmTraits) => boolean, isAll: boolean, which: string): string[] => {
    const limited = arms.filter(({ traits }) => isLimited(traits)).map(({ arm }) => arm);
    if (isAll || limited.length === 0) return [];
    return [`${limited.join(', ')}: over ${which}. Differences are over the items that both arms have.`];
  };
  const known = `the ${items - withoutEvidence} items with known evidence; ${withoutEvidence} have none`;
  const drawn = `${controlItems} of ${items} items, drawn by the seed and evenly over categories`;
  return [
    ...note(({ retrieves }) => retrieves === 'evidence', withoutEvidence === 0, known),
    ...note(answersControlItems, controlItems === items, drawn),
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
