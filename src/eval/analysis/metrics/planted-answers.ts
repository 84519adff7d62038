import { grammars } from '../../../base/grammar.ts';
import type { Language } from '../../../base/language.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { builtInMetrics } from './metrics.ts';
import { type PlantedAnswer, plantedTurn } from './planted-turn.ts';

/** Wrong, right, or in between; a kind of metric that a row does not name has no value there. */
type Verdict = 0 | 'part' | 1;

/** The gold and nothing else; an answer that holds it; the gold anywhere; words in common; an absent item is declined. */
type Kind = 'same' | 'contained' | 'anywhere' | 'overlap' | 'declined';

interface Wording {
  readonly told: (value: string) => string;
  readonly marked: (value: string) => string;
  readonly listed: (values: readonly string[]) => string;
  readonly both: (one: string, other: string) => string;
  readonly changed: (old: string, now: string) => string;
  readonly denied: (value: string) => string;
  readonly refusal: string;
}

const WORDINGS: Readonly<Record<Language, Wording>> = {
  en: {
    told: (value) => `It is ${value}, as you told me.`,
    marked: (value) => `"${value}"!`,
    listed: (values) => values.join(', '),
    both: (one, other) => `${one} and ${other}.`,
    changed: (old, now) => `It was ${old} and is ${now} now.`,
    denied: (value) => `It is not ${value}.`,
    // Declines by every rule: the bench's own, and the phrases of LoCoMo.
    refusal: `${grammars.en.unknownAnswer.replace(/\.$/, '')}, it is not mentioned.`,
  },
  zh: {
    told: (value) => `我记得是${value}。`,
    marked: (value) => `“${value}”。`,
    listed: (values) => values.join('、'),
    both: (one, other) => `${one}和${other}。`,
    changed: (old, now) => `以前是${old}，现在是${now}。`,
    denied: (value) => `不是${value}。`,
    refusal: grammars.zh.unknownAnswer,
  },
};

/** An answer that declines, in a language. */
export function refusalIn(language: Language): string {
  return WORDINGS[language].refusal;
}

/** Full-width letters, digits and marks for plain ones, and the other way round. */
function inOtherWidth(text: string): string {
  const plain = text.normalize('NFKC');
  if (plain !== text) return plain;
  return text.replaceAll(/[!-~]/g, (character) => String.fromCodePoint(character.codePointAt(0)! + 0xfee0));
}

/** A way to answer, and what each kind of metric must say of it. */
interface PlantedWay {
  readonly way: string;
  readonly plant: (
    gold: string,
    others: readonly string[],
    say: Wording,
  ) => Omit<PlantedAnswer, 'gold' | 'language' | 'sure'>;
  readonly verdicts: Readonly<Partial<Record<Kind, Verdict>>>;
  readonly isWide?: boolean;
}

function answered(same: Verdict, contained: Verdict, anywhere: Verdict, overlap: Verdict): PlantedWay['verdicts'] {
  return { same, contained, anywhere, overlap };
}

const WAYS: readonly PlantedWay[] = [
  { way: 'the gold', plant: (gold) => ({ answer: gold }), verdicts: answered(1, 1, 1, 1) },
  {
    way: 'the gold in a longer sentence',
    plant: (gold, _others, say) => ({ answer: say.told(gold) }),
    verdicts: answered(0, 1, 1, 'part'),
  },
  { way: 'the gold in capitals', plant: (gold) => ({ answer: gold.toUpperCase() }), verdicts: answered(1, 1, 1, 1) },
  {
    way: 'the gold in another width',
    plant: (gold) => ({ answer: inOtherWidth(gold) }),
    verdicts: answered(1, 1, 1, 1),
    isWide: true,
  },
  {
    way: 'the gold in other punctuation',
    plant: (gold, _others, say) => ({ answer: say.marked(gold) }),
    verdicts: answered(1, 1, 1, 1),
  },
  {
    way: "another's value",
    plant: (_gold, [other = '']) => ({ answer: other, rivals: [other] }),
    verdicts: answered(0, 0, 0, 0),
  },
  {
    way: 'an abstention',
    plant: (_gold, _others, say) => ({ answer: say.refusal }),
    verdicts: answered(0, 0, 0, 0),
  },
  { way: 'an empty answer', plant: () => ({ answer: '' }), verdicts: answered(0, 0, 0, 0) },
  {
    way: 'all values recited',
    plant: (gold, others, say) => ({ answer: say.listed([...others, gold]), bystanders: others }),
    verdicts: answered(0, 0, 1, 'part'),
  },
  {
    way: 'two of a relation',
    plant: (gold, [other = ''], say) => ({ answer: say.both(gold, other), rivals: [other] }),
    verdicts: answered(0, 0, 1, 'part'),
  },
  {
    way: 'old and new together',
    plant: (gold, [other = ''], say) => ({ answer: say.changed(other, gold), superseded: [other] }),
    verdicts: answered(0, 0, 1, 'part'),
  },
  {
    way: 'a negation',
    plant: (gold, _others, say) => ({ answer: say.denied(gold) }),
    verdicts: answered(0, 0, 1, 'part'),
  },
  {
    way: 'an abstention on an absent item',
    plant: (_gold, _others, say) => ({ answer: say.refusal }),
    verdicts: { declined: 1 },
  },
  { way: 'an empty answer to an absent item', plant: () => ({ answer: '' }), verdicts: { declined: 0 } },
  { way: 'a value for an absent item', plant: (gold) => ({ answer: gold }), verdicts: { declined: 0 } },
];

/** Metrics that judge a text, by kind, where one of them decides what is right. */
interface Panel {
  readonly success: string;
  readonly metrics: Readonly<Record<string, readonly Kind[]>>;
  /** By its published rule, which knows English and plain characters alone. */
  readonly isPlain?: boolean;
}

const PANELS: readonly Panel[] = [
  {
    success: 'contains',
    metrics: {
      exactMatch: ['same'],
      contains: ['contained'],
      memoryRecall: ['anywhere'],
      tokenF1: ['overlap'],
      rougeL: ['overlap'],
      bleu: ['overlap'],
      abstention: ['declined'],
      taskSuccess: ['contained', 'declined'],
    },
  },
  { success: 'exactMatch', metrics: { taskSuccess: ['same', 'declined'] } },
  {
    success: 'locomoF1',
    metrics: { locomoF1: ['overlap', 'declined'], taskSuccess: ['overlap', 'declined'] },
    isPlain: true,
  },
];

function plantedIn(
  { plant, verdicts }: PlantedWay,
  gold: string,
  others: readonly string[],
  language: Language,
): PlantedAnswer {
  const isAbsent = verdicts.declined !== undefined;
  return { ...plant(gold, others, WORDINGS[language]), gold: isAbsent ? null : gold, language };
}

/** Ways to hold the gold and not to answer, by which `contains` must not be fooled; `plant` takes two other values or more. */
export const foolingWays = WAYS.filter(({ verdicts }) => verdicts.contained === 0 && verdicts.anywhere === 1).map(
  (way) => ({
    way: way.way,
    plant: (gold: string, others: readonly string[], language: Language) => plantedIn(way, gold, others, language),
  }),
);

function isDue(value: number | null, due: Verdict | undefined): boolean {
  if (value === null || due === undefined) return value === null && due === undefined;
  return due === 'part' ? value > 0 && value < 1 : value === due;
}

/**
 * Mistakes of metrics on planted answers, one line each: on the gold, in a sentence and in other characters,
 * on another's value, abstentions and silence, and on answers that hold the gold and take it back.
 * @param golds four or more that share no word
 */
export function misjudged(
  golds: readonly string[],
  language: Language,
  metrics: readonly MetricDefinition[] = builtInMetrics,
): string[] {
  const byName = new Map(metrics.map((metric) => [metric.name, metric] as const));
  const tried = golds.flatMap((gold, index) => {
    const others = [1, 2, 3].map((step) => golds[(index + step) % golds.length]!);
    return WAYS.map((way) => ({ ...way, gold, planted: plantedIn(way, gold, others, language) }));
  });
  return PANELS.filter(({ isPlain = false }) => !isPlain || language === 'en').flatMap((panel) =>
    tried
      .filter(({ isWide = false }) => !isWide || panel.isPlain !== true)
      .flatMap(({ way, gold, planted, verdicts }) => {
        const turn = plantedTurn(planted, panel.success);
        return Object.entries(panel.metrics).flatMap(([name, kinds]) => {
          const due = kinds.map((kind) => verdicts[kind]).find((verdict) => verdict !== undefined);
          const value = byName.get(name)!.of(turn);
          return isDue(value, due) ? [] : [`${name} gives ${way} (${gold}) ${value}, not ${due ?? null}`];
        });
      }),
  );
}
