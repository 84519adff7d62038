import { grammars } from '../../../base/grammar.ts';
import type { Language } from '../../../base/language.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { builtInMetrics, type MetricDefinition } from './metrics.ts';
import { scoreTurn } from './scores.ts';

/** An answer to an item, both made up, so that the right value of a metric is known. */
export interface PlantedAnswer {
  readonly answer: string;
  /** Null for an absent item. */
  readonly gold: string | null;
  readonly language: Language;
  /** Values of other memories shown: with the same relation, and with others. */
  readonly rivals?: readonly string[];
  readonly bystanders?: readonly string[];
  readonly superseded?: readonly string[];
  /** The model assigns the gold a high probability, as its reference does. */
  readonly sure?: boolean;
}

/** A turn around a planted answer, scored as every turn is. @param success the metric by which it is right */
export function plantedTurn(planted: PlantedAnswer, success: string): AnsweredResult {
  const { answer, gold, language, rivals = [], bystanders = [], superseded = [], sure = true } = planted;
  const { unknownAnswer } = grammars[language];
  const shown = [
    ...(gold === null ? [] : [{ memoryId: 'gold', content: gold, value: gold, relation: 'asked' }]),
    ...rivals.map((value, index) => ({ memoryId: `rival-${index}`, content: value, value, relation: 'asked' })),
    ...bystanders.map((value, index) => {
      const memoryId = `other-${index}`;
      return { memoryId, content: value, value, relation: memoryId };
    }),
  ];
  const memoryIds = shown.map(({ memoryId }) => memoryId);
  const evidence = gold === null ? [] : ['gold'];
  const logProbability = sure ? -0.05 : -5;
  return {
    state: 'answered',
    itemId: 'planted',
    userId: 'planted',
    arm: 'planted',
    repeat: 0,
    turn: 0,
    position: 0,
    item: {
      query: '',
      gold,
      acceptedAnswers: [],
      relation: 'asked',
      answerPrefix: null,
      category: 'planted',
      phrasing: '',
      userKind: '',
      language,
      memories: memoryIds.length,
      evidence: evidence.length,
      evidencePlace: null,
      condition: null,
    },
    given: { retrieval: null },
    facts: {
      tokens: 0,
      prefixTokens: 0,
      memoryIds,
      forced: false,
      droppedMemories: 0,
      droppedHistory: 0,
      memoryTokens: 0,
      historySha256: '',
      retrievedMemories: memoryIds.length,
      keptMemories: memoryIds.length,
    },
    prefill: null,
    account: {
      cache: 'bypass',
      evaluated: 0,
      built: 0,
      recomputed: 0,
      gate: 0,
      resident: 0,
      positions: 0,
      sharesPositions: false,
    },
    answer: { text: answer },
    timings: {
      retrieve: 0,
      assemble: 0,
      gate: 0,
      kvLoad: 0,
      kvCompute: 0,
      prefill: 0,
      firstToken: 1,
      decode: 0,
      total: 1,
    },
    tokens: { prompt: 0, kvResident: 0, evaluated: 0, generated: 0, positions: 0 },
    observed: {
      injectableMemories: 0,
      injectableTokens: 0,
      sequenceSha256: '',
      sequenceTokens: 0,
      firstForeignToken: null,
      parity: null,
      closed: false,
      goldLogProbability: 2 * logProbability,
      goldTokens: { length: 2 },
      freeLogProbability: logProbability,
      agreement: { klDivergence: sure ? 0 : 2, topOne: sure },
      goldKl: sure ? 0 : 2,
    },
    scores: scoreTurn(
      { query: '', answer: gold, acceptedAnswers: [], evidence, superseded, relation: 'asked', history: [] },
      { answer, storedIds: memoryIds, retrievedIds: memoryIds, keptIds: memoryIds, shown },
      { language, unknownAnswer },
      success,
    ),
  };
}

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
    // A refusal by every rule: the bench's own, and the phrases of LoCoMo.
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

/** An answer that declines to answer. */
export function plantedRefusal(language: Language): string {
  return WORDINGS[language].refusal;
}

/** Full-width characters for plain ones, and the other way round. */
function inOtherWidth(text: string): string {
  const plain = text.normalize('NFKC');
  if (plain !== text) return plain;
  return text.replaceAll(/[!-~]/g, (character) => String.fromCodePoint(character.codePointAt(0)! + 0xfee0));
}

/** Wrong, right, or a score in between. */
type Due = 0 | 'part' | 1;

/** Kinds of metrics: equal to the gold; holds it as an answer; holds it anywhere; words in common; declines an absent item. */
type Kind = 'same' | 'contained' | 'anywhere' | 'overlap' | 'declined';

type Plant = (
  say: Wording,
  gold: string,
  others: readonly string[],
) => Omit<PlantedAnswer, 'gold' | 'language' | 'sure'>;

/** A way to answer, and the value due from each kind of metric; a kind without one has no value there. */
interface Way {
  readonly name: string;
  readonly plant: Plant;
  readonly due: Readonly<Partial<Record<Kind, Due>>>;
}

const RIGHT = { same: 1, contained: 1, anywhere: 1, overlap: 1 } as const;
const WRONG = { same: 0, contained: 0, anywhere: 0, overlap: 0 } as const;
const FOOLING = { same: 0, contained: 0, anywhere: 1, overlap: 'part' } as const;
const OTHER_WIDTH = 'the gold in another width';

const WAYS: readonly Way[] = [
  { name: 'the gold', due: RIGHT, plant: (_say, gold) => ({ answer: gold }) },
  {
    name: 'the gold in a longer sentence',
    due: { same: 0, contained: 1, anywhere: 1, overlap: 'part' },
    plant: (say, gold) => ({ answer: say.told(gold) }),
  },
  { name: 'the gold in capitals', due: RIGHT, plant: (_say, gold) => ({ answer: gold.toUpperCase() }) },
  { name: OTHER_WIDTH, due: RIGHT, plant: (_say, gold) => ({ answer: inOtherWidth(gold) }) },
  { name: 'the gold in other punctuation', due: RIGHT, plant: (say, gold) => ({ answer: say.marked(gold) }) },
  {
    name: "another's value",
    due: WRONG,
    plant: (_say, _gold, [other = '']) => ({ answer: other, rivals: [other] }),
  },
  { name: 'an abstention', due: WRONG, plant: (say) => ({ answer: say.refusal }) },
  { name: 'an empty answer', due: WRONG, plant: () => ({ answer: '' }) },
  {
    name: 'all values recited',
    due: FOOLING,
    plant: (say, gold, others) => ({ answer: say.listed([...others, gold]), bystanders: others }),
  },
  {
    name: 'two of a relation',
    due: FOOLING,
    plant: (say, gold, [other = '']) => ({ answer: say.both(gold, other), rivals: [other] }),
  },
  {
    name: 'old and new together',
    due: FOOLING,
    plant: (say, gold, [other = '']) => ({ answer: say.changed(other, gold), superseded: [other] }),
  },
  { name: 'a negation', due: FOOLING, plant: (say, gold) => ({ answer: say.denied(gold) }) },
  { name: 'an abstention on an absent item', due: { declined: 1 }, plant: (say) => ({ answer: say.refusal }) },
  { name: 'an empty answer to an absent item', due: { declined: 0 }, plant: () => ({ answer: '' }) },
  { name: 'a value for an absent item', due: { declined: 0 }, plant: (_say, gold) => ({ answer: gold }) },
];

function plantAnswer({ plant, due }: Way, gold: string, others: readonly string[], language: Language): PlantedAnswer {
  return { ...plant(WORDINGS[language], gold, others), gold: due.declined === undefined ? gold : null, language };
}

/** Ways to hold the gold without answering, which must not fool `contains`; `plant` takes two other values or more. */
export const foolingWays = WAYS.filter(({ due }) => due === FOOLING).map((way) => ({
  name: way.name,
  plant: (gold: string, others: readonly string[], language: Language) => plantAnswer(way, gold, others, language),
}));

/** Metrics that judge a text, by kind, where `success` decides what is right. */
const PANELS: readonly {
  readonly success: string;
  readonly metrics: Readonly<Record<string, readonly Kind[]>>;
  /** Its published rule knows English and plain characters only. */
  readonly plainEnglish?: boolean;
}[] = [
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
    plainEnglish: true,
  },
];

function isDue(value: number | null, due: Due | undefined): boolean {
  if (value === null || due === undefined) return value === null && due === undefined;
  return due === 'part' ? value > 0 && value < 1 : value === due;
}

/**
 * Wrong values of metrics on planted answers, one line each: the gold, in a sentence and in other characters; another's value,
 * abstentions and silence; and answers that hold the gold and take it back.
 * @param golds four or more that share no word
 */
export function misjudged(
  golds: readonly string[],
  language: Language,
  metrics: readonly MetricDefinition[] = builtInMetrics,
): string[] {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  return PANELS.filter(({ plainEnglish }) => !plainEnglish || language === 'en').flatMap((panel) =>
    golds.flatMap((gold, index) => {
      const others = [1, 2, 3].map((step) => golds[(index + step) % golds.length]!);
      const ways = WAYS.filter(({ name }) => !panel.plainEnglish || name !== OTHER_WIDTH);
      return ways.flatMap((way) => {
        const turn = plantedTurn(plantAnswer(way, gold, others, language), panel.success);
        return Object.entries(panel.metrics).flatMap(([name, kinds]) => {
          const due = kinds.map((kind) => way.due[kind]).find((one) => one !== undefined);
          const value = byName.get(name)!.of(turn);
          return isDue(value, due) ? [] : [`${name} gives ${way.name} (${gold}) ${value}, not ${due ?? null}`];
        });
      });
    }),
  );
}
