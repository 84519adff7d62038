import { type KnownLanguage, knownLanguage, type Language } from '../../../base/language.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { holdsWords, wordForm } from '../../../data/split-words.ts';
import type { CheckResult } from '../../../store/records/run-results.ts';
import { mean } from '../statistics/observations.ts';
import { builtInMetrics, type MetricDefinition } from './built-in-metrics.ts';
import type { PlantedAnswer } from './answers-with-known-scores.ts';
import { foolingWays, misjudged, plantAnswer, plantedTurn, plantedWordings } from './answers-with-known-scores.ts';
import { textMetrics } from './text-metrics-by-name.ts';

const LANGUAGES = ['en', 'zh'] as const;

const GOLDS: Readonly<Record<KnownLanguage, readonly string[]>> = {
  en: ['Brenko', 'TX-4500', '16:30', 'May 14', 'a software engineer', 'under the oak table', 'Port Dral', '90217'],
  zh: ['布伦科', '上海', '软件工程师', '橡木桌子下面', '五月十四日', '绿茶', '４８２１', '小提琴'],
};

const MAX_BY_CHANCE = 0.02;

/** Metrics that are tried on the golds of the data; others rightly score words that different golds share. */
const STRICT = ['exactMatch', 'memoryRecall', 'contains'];

/** Golds of the data in one language. */
interface Trial {
  readonly label: string;
  readonly language: Language;
  readonly golds: readonly string[];
}

/** An answer to an item; the gold is null for an absent item. */
type Exchange = Pick<PlantedAnswer, 'gold' | 'answer'>;

/** Pairs each gold with the next in a random order, and leaves out pairs in which one gold contains the other. */
function derange(golds: readonly string[], language: Language, seed: number) {
  const order = new SeededRandom(seed).shuffled(golds);
  const pairs = order.map((gold, index) => ({ gold, answer: order[(index + 1) % order.length]! }));
  return pairs.filter(({ gold, answer }) => isApart(gold, answer, language));
}

const meanOr0 = (values: readonly number[]): number => (values.length === 0 ? 0 : mean(values));

function isApart(a: string, b: string, language: Language): boolean {
  return !holdsWords(a, b, language) && !holdsWords(b, a, language);
}

function tryGolds({ label, language, golds }: Trial, seed: number): { passed: boolean; evidence: string } {
  const scores = STRICT.map((name) => (answer: string, gold: string) => textMetrics[name]!(answer, [gold], language));
  const exchanged = derange(golds, language, seed);
  const gold = Math.min(...scores.flatMap((score) => golds.map((one) => score(one, one))));
  const deranged = Math.max(...scores.map((score) => meanOr0(exchanged.map((pair) => score(pair.answer, pair.gold)))));
  const empty = Math.max(...scores.flatMap((score) => golds.map((one) => score('', one))));
  return {
    passed: gold === 1 && deranged < MAX_BY_CHANCE && empty === 0 && 2 * exchanged.length >= golds.length,
    evidence: `${label} (${golds.length} golds): gold ${gold}, derangement ${(100 * deranged).toFixed(1)} %, empty ${empty}`,
  };
}

function fooledShares({ golds, language }: Trial, seed: number): { readonly way: string; readonly share: number }[] {
  const order = new SeededRandom(seed).shuffled(golds);
  /** Removes the punctuation mark that would end the planted sentence. */
  const unmarked = (value: string): string => value.replace(/[\s.!?。！？]+$/u, '');
  const known = knownLanguage(language);
  if (known === undefined) return [];
  return foolingWays.map((way) => {
    const scores = order.flatMap((gold, index) => {
      const next = [1, 2, 3].map((step) => order[(index + step) % order.length]!);
      const others = [...new Set(next)].filter((other) => isApart(gold, other, language));
      if (others.length < 2) return [];
      const planted = plantAnswer(way, unmarked(gold), others.map(unmarked), known);
      return plantedTurn({ ...planted, gold }, 'contains').scores.contains!;
    });
    return { way: way.name, share: meanOr0(scores) };
  });
}

/** Why a metric fails to tell right planted answers from wrong ones; null if it succeeds. */
function metricFault(metric: MetricDefinition, seed: number): string | null {
  const golds = GOLDS.en;
  const average = (exchanges: readonly Exchange[], sure: boolean): number | null => {
    const turns = exchanges.map((exchange) => plantedTurn({ ...exchange, language: 'en', sure }, metric.name));
    const values = turns.flatMap((turn) => metric.of(turn) ?? []);
    return values.length === 0 ? null : mean(values);
  };
  const absent = (answer: string): Exchange => ({ gold: null, answer });
  const best = average([...golds.map((gold) => ({ gold, answer: gold })), absent(plantedWordings.en.refusal)], true);
  if (best === null) return `${metric.name} has no value for any planted answer`;
  const wrong = {
    'exchanged golds': [...derange(golds, 'en', seed), ...golds.map(absent)],
    silence: [...golds.map((gold) => ({ gold, answer: '' })), absent('')],
  };
  const isShare = metric.unit === '%' && metric.direction === 'higher';
  for (const [words, exchanges] of Object.entries(wrong)) {
    const other = average(exchanges, false);
    const isBetter = other === null || (metric.direction === 'higher' ? best > other : best < other);
    const isClear = !isShare || (best === 1 && (other ?? 0) < MAX_BY_CHANCE);
    if (!isBetter || !isClear) return `${metric.name} gives golds ${best}, ${words} ${other}`;
  }
  return null;
}

/**
 * The check `metrics`: planted answers to built-in golds get the expected scores, and every metric tells right from wrong. For
 * each language with two golds or more in the data, strict text metrics give 1 to golds, 0 to silence and under 2 % to
 * exchanged golds, and `contains` is not fooled by recitals, rivals, old values and negations.
 * @param golds golds of the data by language @param options.own metrics of the calling program
 */
export function metricsSelfTest(
  golds: ReadonlyMap<Language, readonly string[]>,
  { seed, own = [] }: { readonly seed: number; readonly own?: readonly MetricDefinition[] },
): CheckResult {
  const ofData = [...golds].map(([language, all]): Trial => ({
    label: golds.size === 1 ? 'data set' : `data in ${language}`,
    language,
    golds: [...new Map(all.map((gold) => [wordForm(gold, language), gold])).values()],
  }));
  const trials = ofData.filter((trial) => trial.golds.length >= 2);
  const tried = trials.map((trial) => tryGolds(trial, seed));
  const shares = trials.flatMap((trial) => fooledShares(trial, seed));
  const fooled = shares.reduce((most, one) => (one.share > most.share ? one : most), { way: '', share: 0 });
  const faulty = [...builtInMetrics, ...own].flatMap((metric) => metricFault(metric, seed) ?? []);
  const wrong = LANGUAGES.flatMap((language) => misjudged(GOLDS[language], language));
  const isSound = tried.every((one) => one.passed) && wrong.length + faulty.length === 0;
  const passed = isSound && fooled.share < MAX_BY_CHANCE;
  const detects = '1 planted answer that is misjudged, 1 metric that scores golds no higher than silence';
  return {
    check: 'metrics',
    status: passed ? 'passed' : 'failed',
    ...(passed && { detects }),
    evidence: [
      ...tried.map(({ evidence }) => evidence),
      wrong.length === 0 ? 'no planted answer is misjudged' : `misjudged: ${wrong.slice(0, 3).join(', ')}`,
      fooled.share === 0
        ? `contains is fooled by none of ${foolingWays.map(({ name }) => name).join(', ')}`
        : `contains is fooled in ${(100 * fooled.share).toFixed(1)} % by ${fooled.way}`,
      faulty.length === 0
        ? `${builtInMetrics.length + own.length} metrics tell right from wrong`
        : `do not tell right from wrong: ${faulty.join(', ')}`,
    ].join('; '),
  };
}
