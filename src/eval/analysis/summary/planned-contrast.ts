import type { ContrastResults, MeasuredContrast, PlannedContrast } from '../../../store/records/planned-contrast.ts';
import type { RunDescription } from '../../../store/records/run-description.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { detectableContrast, type PairedContrast, pairedContrast } from '../statistics/paired-contrast.ts';
import { countUsers, type Pair, pairItems, perItem } from '../statistics/observations.ts';
import { shareGain, tally } from '../statistics/paired-quality.ts';
import { LEVEL, MIN_USERS } from '../statistics/verdict.ts';

/** What is known of a contrast before the first turn. @param counts drawn items by category */
export function contrastBefore(
  { categories, discordance }: PlannedContrast,
  counts: RunDescription['dataset']['counts']['category'],
): ContrastResults['before'] {
  const items = categories.map((category) => counts[category] ?? 0);
  return { items, detectable: detectableContrast(items, discordance) };
}

/** `(dki-blocks − rag) on updated minus the same on two memories, by contains` */
export function contrastName({ arm, reference, categories: [first, second], metric }: PlannedContrast): string {
  return `(${arm} − ${reference}) on ${first} minus the same on ${second}, by ${metric}`;
}

/** The verdict on a contrast of enough users. @param p adjusted over models, or not */
export function contrastVerdict(p: number, delta: number): MeasuredContrast['verdict'] {
  if (p >= LEVEL) return 'undecided';
  return delta > 0 ? 'higher' : 'lower';
}

interface ContrastSettings {
  readonly metrics: RunMetrics;
  /** Why quality is unknown; null if it is known. */
  readonly unknownQuality: string | null;
  readonly seed: number;
}

/** The planned contrast of a run; undefined if its data plan none. */
export function contrastResults(
  answered: Turns,
  dataset: RunDescription['dataset'],
  { metrics: { all }, unknownQuality, seed }: ContrastSettings,
): ContrastResults | undefined {
  const planned = dataset.plannedContrast;
  if (planned === undefined) return undefined;
  const before = contrastBefore(planned, dataset.counts.category);
  const absent = (why: string): ContrastResults => ({ planned, before, found: { state: 'absent', why } });
  if (unknownQuality !== null) return absent(unknownQuality);
  const metric = all.find(({ name }) => name === planned.metric);
  if (metric === undefined) return absent(`no metric ${planned.metric}`);
  const missing = [planned.arm, planned.reference].filter((arm) => turnsOfArm(answered, arm).length === 0);
  if (missing.length > 0) return absent(`no turn of ${missing.join(' and ')}`);
  const pairs = pairsByCategory(answered, planned, metric);
  const empty = planned.categories.filter((_, place) => pairs[place]!.length === 0);
  if (empty.length > 0) return absent(`no item of ${empty.join(' and ')} was answered by both arms`);
  const contrast = pairedContrast(pairs, '%', seed);
  const users = Math.min(...pairs.map(countUsers));
  const golds = pairsByCategory(
    answered,
    planned,
    all.find(({ name }) => name === 'goldLogProb')!,
  );
  const scored = golds.every(({ length }) => length > 0) ? pairedContrast(golds, 'nats', seed) : null;
  const found: MeasuredContrast = {
    state: 'measured',
    ...difference(contrast),
    p: contrast.p,
    detectable: contrast.detectable,
    verdict: users < MIN_USERS ? 'too few users' : contrastVerdict(contrast.p, contrast.delta),
    parts: planned.categories.map((category, place) => {
      return { category, ...shareGain(pairs[place]!), ...tally(pairs[place]!, 'higher') };
    }),
    goldLogProb: scored && difference(scored),
  };
  return { planned, before, found };
}

const difference = ({ delta, interval, n, users }: PairedContrast) => ({ delta, ...interval, n, users });

function pairsByCategory(
  answered: Turns,
  { arm, reference, categories: [first, second] }: PlannedContrast,
  metric: MetricDefinition,
): readonly [Pair[], Pair[]] {
  const pairs = (category: string): Pair[] => {
    const isOf = ({ item }: AnsweredResult): boolean => item.category === category;
    const values = (name: string) => perItem(turnsOfArm(answered, name).filter(isOf), metric.of);
    return pairItems(values(arm), values(reference));
  };
  return [pairs(first), pairs(second)];
}
