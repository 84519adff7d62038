import { SeededRandom } from '../../../base/seeded-random.ts';
import type { Language } from '../../../base/language.ts';
import { containsTokens, normalise } from '../../../data/normalise.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { builtInMetrics } from './metrics.ts';
import { foolingWays, misjudged, refusalIn } from './planted-answers.ts';
import { type PlantedAnswer, plantedTurn } from './planted-turn.ts';
import { textMetrics } from './text-metrics.ts';

/** Golds and answers that say them in other words. */
interface Probe {
  readonly golds: readonly string[];
  readonly paraphrases: readonly { readonly gold: string; readonly answer: string }[];
}

const PROBES: Readonly<Record<Language, Probe>> = {
  en: {
    golds: ['Brenko', 'TX-4500', '16:30', 'May 14', 'a software engineer', 'under the oak table', 'Port Dral', '90217'],
    paraphrases: [
      { gold: 'Brenko', answer: 'Your dog is called Brenko.' },
      { gold: 'a software engineer', answer: 'Software Engineer!' },
    ],
  },
  zh: {
    golds: ['布伦科', '上海', '软件工程师', '橡木桌子下面', '五月十四日', '绿茶', '４８２１', '小提琴'],
    paraphrases: [
      { gold: '布伦科', answer: '它的名字叫布伦科。' },
      { gold: '４８２１', answer: '门的密码是 4821。' },
    ],
  },
};

const LANGUAGES = ['en', 'zh'] as const;
const MOST_BY_CHANCE = 0.02;

/** Tried on the golds of the data, too: these may share words ("May 5", "May 6"), which the others rightly count. */
const STRICT = ['exactMatch', 'memoryRecall', 'contains'];
const TEXT_NAMES = Object.keys(textMetrics);

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

/** Every gold paired with another: a random order, shifted by one. */
function deranged(golds: readonly string[], seed: number): { gold: string; answer: string }[] {
  const order = new SeededRandom(seed).shuffled(golds);
  return order.map((gold, index) => ({ gold, answer: order[(index + 1) % order.length]! }));
}

function distinct(golds: readonly string[], language: Language): string[] {
  return [...new Map(golds.map((gold) => [normalise(gold, language), gold])).values()];
}

interface Rates {
  readonly gold: number;
  readonly deranged: number;
  readonly empty: number;
}

function rates(golds: readonly string[], language: Language, names: readonly string[], seed: number): Rates {
  const wrong = deranged(golds, seed);
  const metrics = names.map((name) => textMetrics[name]!);
  return {
    gold: Math.min(...metrics.flatMap((metric) => golds.map((gold) => metric(gold, [gold], language)))),
    deranged: Math.max(
      ...metrics.map((metric) => mean(wrong.map((pair) => metric(pair.answer, [pair.gold], language)))),
    ),
    empty: Math.max(...metrics.flatMap((metric) => golds.map((gold) => metric('', [gold], language)))),
  };
}

function holds(found: Rates): boolean {
  return found.gold === 1 && found.deranged < MOST_BY_CHANCE && found.empty === 0;
}

function shown(label: string, count: number, found: Rates): string {
  const chance = `${(100 * found.deranged).toFixed(1)} %`;
  return `${label} (${count} golds): gold ${found.gold}, derangement ${chance}, empty ${found.empty}`;
}

/** A value without the mark that would end the planted sentence. */
function bare(value: string): string {
  return value.replace(/[\s.!?。！？]+$/u, '');
}

/** The largest share of golds for which each way of fooling `contains` succeeds. */
function fooled(golds: readonly string[], language: Language, seed: number): { way: string; share: number } {
  const order = new SeededRandom(seed).shuffled(golds);
  const apart = (a: string, b: string): boolean => !containsTokens(a, b, language) && !containsTokens(b, a, language);
  const shares = foolingWays.map(({ way, plant }) => {
    const scores = order.flatMap((gold, index) => {
      const next = [1, 2, 3].map((step) => order[(index + step) % order.length]!);
      const others = [...new Set(next)].filter((other) => apart(gold, other));
      if (others.length < 2) return [];
      const planted = plant(bare(gold), others.map(bare), language);
      return plantedTurn({ ...planted, gold }, 'contains').scores.contains!;
    });
    return { way, share: scores.length === 0 ? 0 : mean(scores) };
  });
  return shares.reduce((worst, one) => (one.share > worst.share ? one : worst));
}

/** The mean of a metric over planted answers, of those of which it is defined; null where it is of none. */
function meanOf(metric: MetricDefinition, planted: readonly PlantedAnswer[]): number | null {
  const values = planted.flatMap((one) => metric.of(plantedTurn(one, metric.name)) ?? []);
  return values.length === 0 ? null : mean(values);
}

/**
 * The reason why a metric cannot fail, or cannot be right; null for one that tells right from wrong on the planted answers: golds
 * against exchanged ones and silence, refusals against answers, expected golds against unexpected ones.
 */
function blindness(metric: MetricDefinition, seed: number): string | null {
  const better = (a: number, b: number): boolean => (metric.direction === 'higher' ? a > b : a < b);
  const golds = PROBES.en.golds;
  const plant = (pairs: readonly { gold: string | null; answer: string }[], sure: boolean) =>
    meanOf(metric, pairs.map((pair) => ({ ...pair, language: 'en', sure }))); // prettier-ignore
  const absent = (answer: string) => ({ gold: null, answer });
  const right = [...golds.map((gold) => ({ gold, answer: gold })), absent(refusalIn('en'))];
  const wrong = [...deranged(golds, seed), ...golds.map(absent)];
  const silent = [...golds.map((gold) => ({ gold, answer: '' })), absent('')];
  const best = plant(right, true);
  if (best === null) return `${metric.name} is defined of no planted answer`;
  for (const [words, planted] of [
    ['exchanged golds', wrong],
    ['silence', silent],
  ] as const) {
    const other = plant(planted, false);
    if (other !== null && !better(best, other)) return `${metric.name} gives golds ${best}, ${words} ${other}`;
    const isShare = metric.unit === '%' && metric.direction === 'higher';
    if (isShare && (best < 1 || (other ?? 0) >= MOST_BY_CHANCE)) {
      return `${metric.name} gives golds ${best}, ${words} ${other}`;
    }
  }
  return null;
}

/**
 * The check `metrics`. Text metrics must give 1 to every gold, 0 to the empty answer, on average less than 2 % to golds exchanged
 * with each other; all but exact match more than 0 to a paraphrase. `contains` must give 0 to a recital of all values, to two values
 * of a relation, to old and new together and to a negation. Each metric that judges a text must give every planted answer its due
 * (`planted-answers.ts`), in English and Chinese. Every metric in use, those of the calling program included, must tell
 * planted right answers from wrong ones. Tried on built-in golds in English and Chinese; exact match, memory recall and `contains`
 * also on the distinct golds of the data, in each language that has at least two of them.
 * @param options.own metrics of the calling program
 */
export function metricsCheck(
  golds: ReadonlyMap<Language, readonly string[]>,
  { seed, own = [] }: { readonly seed: number; readonly own?: readonly MetricDefinition[] },
): CheckResult {
  const ofData = [...golds].map(([language, all]) => ({
    language,
    label: golds.size === 1 ? 'data set' : `data in ${language}`,
    golds: distinct(all, language),
  }));
  const tried = [
    ...LANGUAGES.map((language) => ({ language, label: language, names: TEXT_NAMES, golds: PROBES[language].golds })),
    ...ofData.filter((one) => one.golds.length >= 2).map((one) => ({ ...one, names: STRICT })),
  ].map((trial) => ({
    ...trial,
    found: rates(trial.golds, trial.language, trial.names, seed),
    fooled: fooled(trial.golds, trial.language, seed),
  }));
  const paraphrase = Math.min(
    ...LANGUAGES.flatMap((language) =>
      PROBES[language].paraphrases.map(({ gold, answer }) =>
        Math.min(
          ...TEXT_NAMES.filter((name) => name !== 'exactMatch').map((name) =>
            textMetrics[name]!(answer, [gold], language),
          ),
        ),
      ),
    ),
  );
  const blind = [...builtInMetrics, ...own].flatMap((metric) => blindness(metric, seed) ?? []);
  const undue = LANGUAGES.flatMap((language) => misjudged(PROBES[language].golds, language));
  const worst = tried.map((trial) => trial.fooled).reduce((a, b) => (b.share > a.share ? b : a));
  const passed =
    paraphrase > 0 &&
    undue.length === 0 &&
    worst.share < MOST_BY_CHANCE &&
    blind.length === 0 &&
    tried.every(({ found }) => holds(found));
  return {
    check: 'metrics',
    status: passed ? 'passed' : 'failed',
    evidence: [
      ...tried.map((trial) => shown(trial.label, trial.golds.length, trial.found)),
      `least paraphrase ${paraphrase.toFixed(2)}`,
      undue.length === 0 ? 'no planted answer is misjudged' : `misjudged: ${undue.slice(0, 3).join(', ')}`,
      worst.share === 0
        ? `contains is fooled by none of ${foolingWays.map(({ way }) => way).join(', ')}`
        : `contains is fooled in ${(100 * worst.share).toFixed(1)} % by ${worst.way}`,
      blind.length === 0
        ? `${builtInMetrics.length + own.length} metrics tell right from wrong`
        : `cannot fail: ${blind.join(', ')}`,
    ].join('; '),
  };
}
