import { SeededRandom } from '../../../config/seeded-random.ts';
import type { CheckResult } from '../../../records/results.ts';
import { bleu } from './bleu.ts';
import { exactMatch } from './exact-match.ts';
import { memoryRecall } from './memory-recall.ts';
import { normalise, type Language } from '../../../data/normalise.ts';
import { rougeL } from './rouge-l.ts';
import { tokenF1 } from './token-f1.ts';

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

const MOST_BY_CHANCE = 0.02;

const STRICT = [exactMatch, memoryRecall] as const;
/** Golds of a data set may share words ("May 5", "May 6"), which these rightly count: they are tried on ours alone. */
const OVERLAPS = [tokenF1, rougeL, bleu] as const;

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

type Metric = (answer: string, golds: readonly string[], language: Language) => number;

function rates(golds: readonly string[], language: Language, metrics: readonly Metric[], seed: number): Rates {
  const wrong = deranged(golds, seed);
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

/**
 * The check `metrics`: exact match, memory recall, token F1, ROUGE-L and BLEU must give 1 to every gold, 0 to the empty
 * answer, on average less than 2 % to golds exchanged with each other; all but exact match more than 0 to a paraphrase.
 * Tried on built-in golds in English and Chinese; exact match and memory recall also on the distinct golds of the data, in
 * each language that has at least two of them.
 */
export function metricsCheck(
  golds: ReadonlyMap<Language, readonly string[]>,
  options: { readonly seed: number },
): CheckResult {
  const own = [...golds].map(([language, all]) => ({
    language,
    label: golds.size === 1 ? 'data set' : `data in ${language}`,
    golds: distinct(all, language),
  }));
  const tried = [
    ...(['en', 'zh'] as const).map((probe) => ({
      label: probe,
      golds: PROBES[probe].golds,
      found: rates(PROBES[probe].golds, probe, [...STRICT, ...OVERLAPS], options.seed),
    })),
    ...own
      .filter((one) => one.golds.length >= 2)
      .map((one) => ({ ...one, found: rates(one.golds, one.language, STRICT, options.seed) })),
  ];
  const paraphrase = Math.min(
    ...(['en', 'zh'] as const).flatMap((probe) =>
      PROBES[probe].paraphrases.map(({ gold, answer }) =>
        Math.min(...[...OVERLAPS, memoryRecall].map((metric) => metric(answer, [gold], probe))),
      ),
    ),
  );
  return {
    check: 'metrics',
    status: paraphrase > 0 && tried.every(({ found }) => holds(found)) ? 'passed' : 'failed',
    evidence: [
      ...tried.map((trial) => shown(trial.label, trial.golds.length, trial.found)),
      `least paraphrase ${paraphrase.toFixed(2)}`,
    ].join('; '),
  };
}
