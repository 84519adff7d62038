import { grammars } from '../../../base/english-and-chinese-wordings.ts';
import type { KnownLanguage } from '../../../base/language.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { builtInMetrics, type MetricDefinition } from './built-in-metrics.ts';
import { metricsVersion } from './metrics-version.ts';
import { scoreTurn } from './score-turn.ts';

export interface PlantedAnswer {
  readonly answer: string;
  /** Null for an absent item. */
  readonly gold: string | null;
  readonly language: KnownLanguage;
  /** Values of other memories shown with the same relation. */
  readonly rivals?: readonly string[];
  /** Values of other memories shown with other relations. */
  readonly bystanders?: readonly string[];
  readonly superseded?: readonly string[];
  readonly accepted?: readonly string[];
  /** The model assigns the gold a high probability, as its reference does. */
  readonly sure?: boolean;
}

const RELATION = 'relation';

function zeros<Name extends string>(...names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/** Builds a turn with a planted answer and scores it like any turn. @param success metric that decides what is right */
export function plantedTurn(planted: PlantedAnswer, success: string): AnsweredResult {
  const { answer, gold, language, rivals = [], bystanders = [], superseded = [], accepted = [], sure = true } = planted;
  const memory = (memoryId: string, value: string, relation = RELATION) => {
    return { memoryId, content: value, value, relation };
  };
  const shown = [
    ...(gold === null ? [] : [memory('gold', gold)]),
    ...rivals.map((value, index) => memory(`rival-${index}`, value)),
    ...bystanders.map((value, index) => memory(`other-${index}`, value, `other-${index}`)),
  ];
  const memoryIds = shown.map(({ memoryId }) => memoryId);
  const evidence = gold === null ? [] : ['gold'];
  const logProbability = sure ? -0.05 : -5;
  return {
    state: 'answered',
    itemId: 'planted',
    userId: 'planted',
    arm: 'planted',
    ...zeros('repeat', 'turn', 'position'),
    item: {
      query: '',
      gold,
      acceptedAnswers: accepted,
      relation: RELATION,
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
      ...zeros('tokens', 'prefixTokens', 'droppedMemories', 'droppedHistory', 'memoryTokens'),
      memoryIds,
      forced: false,
      historySha256: '',
      retrievedMemories: memoryIds.length,
      keptMemories: memoryIds.length,
    },
    prefill: null,
    account: {
      cache: 'bypass',
      ...zeros('evaluated', 'built', 'recomputed', 'gate', 'resident', 'positions'),
      sharesPositions: false,
    },
    answer: { text: answer },
    timings: {
      ...zeros('retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'decode'),
      firstToken: 1,
      total: 1,
    },
    tokens: zeros('prompt', 'kvResident', 'evaluated', 'generated', 'positions'),
    observed: {
      ...zeros('injectableMemories', 'injectableTokens', 'sequenceTokens'),
      sequenceSha256: '',
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
      { query: '', answer: gold, acceptedAnswers: accepted, evidence, superseded, relation: RELATION, history: [] },
      { answer, storedIds: memoryIds, retrievedIds: memoryIds, keptIds: memoryIds, shown },
      { language, unknownAnswer: grammars[language].unknownAnswer },
      { metric: success, version: metricsVersion },
    ),
  };
}

export const plantedWordings = {
  en: {
    told: (value: string) => `It is ${value}, as you told me.`,
    marked: (value: string) => `"${value}"!`,
    listed: (values: readonly string[]) => values.join(', '),
    both: (one: string, other: string) => `${one} and ${other}.`,
    changed: (old: string, now: string) => `It was ${old} and is ${now} now.`,
    denied: (value: string) => `It is not ${value}.`,
    // A refusal by the rules of the bench and by those of LoCoMo.
    refusal: `${grammars.en.unknownAnswer.replace(/\.$/, '')}, it is not mentioned.`,
  },
  zh: {
    told: (value: string) => `我记得是${value}。`,
    marked: (value: string) => `“${value}”。`,
    listed: (values: readonly string[]) => values.join('、'),
    both: (one: string, other: string) => `${one}和${other}。`,
    changed: (old: string, now: string) => `以前是${old}，现在是${now}。`,
    denied: (value: string) => `不是${value}。`,
    refusal: grammars.zh.unknownAnswer,
  },
};

/** Swaps full-width and plain characters. */
function inOtherWidth(text: string): string {
  const plain = text.normalize('NFKC');
  if (plain !== text) return plain;
  return text.replaceAll(/[!-~]/g, (character) => String.fromCodePoint(character.codePointAt(0)! + 0xfee0));
}

/** An expected score; `part`: between 0 and 1. */
type Expected = 0 | 'part' | 1;

/** What metrics reward: to equal the gold; answer with it; hold it anywhere; share words; decline an absent item. */
type Kind = 'same' | 'contained' | 'anywhere' | 'overlap' | 'declined';

interface Way {
  readonly name: string;
  readonly expected: Readonly<Partial<Record<Kind, Expected>>>;
  readonly plant: (values: {
    readonly say: (typeof plantedWordings)[KnownLanguage];
    readonly gold: string;
    readonly others: readonly string[];
    readonly other: string;
  }) => Pick<PlantedAnswer, 'answer' | 'accepted' | 'rivals' | 'bystanders' | 'superseded'>;
}

const RIGHT = { same: 1, contained: 1, anywhere: 1, overlap: 1 } as const;
const IN_A_SENTENCE = { same: 0, contained: 1, anywhere: 1, overlap: 'part' } as const;
const WRONG = { same: 0, contained: 0, anywhere: 0, overlap: 0 } as const;
const FOOLING = { same: 0, contained: 0, anywhere: 1, overlap: 'part' } as const;
const OTHER_WIDTH = 'the gold in another width';

const WAYS: readonly Way[] = [
  { name: 'the gold', expected: RIGHT, plant: ({ gold }) => ({ answer: gold }) },
  {
    name: 'the gold in a longer sentence',
    expected: IN_A_SENTENCE,
    plant: ({ say, gold }) => ({ answer: say.told(gold) }),
  },
  { name: 'the gold in capitals', expected: RIGHT, plant: ({ gold }) => ({ answer: gold.toUpperCase() }) },
  { name: OTHER_WIDTH, expected: RIGHT, plant: ({ gold }) => ({ answer: inOtherWidth(gold) }) },
  { name: 'the gold in other punctuation', expected: RIGHT, plant: ({ say, gold }) => ({ answer: say.marked(gold) }) },
  { name: 'another accepted answer', expected: RIGHT, plant: ({ other }) => ({ answer: other, accepted: [other] }) },
  {
    name: 'the gold beside accepted answers',
    expected: RIGHT,
    plant: ({ gold, others }) => ({ answer: gold, accepted: others }),
  },
  { name: "another's value", expected: WRONG, plant: ({ other }) => ({ answer: other, rivals: [other] }) },
  { name: 'an abstention', expected: WRONG, plant: ({ say }) => ({ answer: say.refusal }) },
  { name: 'an empty answer', expected: WRONG, plant: () => ({ answer: '' }) },
  {
    name: 'all values recited',
    expected: FOOLING,
    plant: ({ say, gold, others }) => ({ answer: say.listed([...others, gold]), bystanders: others }),
  },
  {
    name: 'two of a relation',
    expected: FOOLING,
    plant: ({ say, gold, other }) => ({ answer: say.both(gold, other), rivals: [other] }),
  },
  {
    name: 'old and new together',
    expected: FOOLING,
    plant: ({ say, gold, other }) => ({ answer: say.changed(other, gold), superseded: [other] }),
  },
  { name: 'a negation', expected: FOOLING, plant: ({ say, gold }) => ({ answer: say.denied(gold) }) },
  { name: 'an abstention on an absent item', expected: { declined: 1 }, plant: ({ say }) => ({ answer: say.refusal }) },
  { name: 'an empty answer to an absent item', expected: { declined: 0 }, plant: () => ({ answer: '' }) },
  { name: 'a value for an absent item', expected: { declined: 0 }, plant: ({ gold }) => ({ answer: gold }) },
];

/** Ways to hold the gold without answering, which must not fool `contains`. */
export const foolingWays = WAYS.filter(({ expected }) => expected === FOOLING);

/** Plants an answer in one of the ways. @param others values other than the gold, two or more */
export function plantAnswer(
  { plant, expected }: Way,
  gold: string,
  others: readonly string[],
  language: KnownLanguage,
) {
  const planted = plant({ say: plantedWordings[language], gold, others, other: others[0]! });
  return { ...planted, gold: expected.declined === undefined ? gold : null, language };
}

/** By the metric that decides what is right: the metrics to test, and what each rewards. */
const PANELS: Readonly<Record<string, Readonly<Record<string, readonly Kind[]>>>> = {
  contains: {
    exactMatch: ['same'],
    squadExactMatch: ['same'],
    contains: ['contained'],
    memoryRecall: ['anywhere'],
    tokenF1: ['overlap'],
    rougeL: ['overlap'],
    bleu: ['overlap'],
    abstention: ['declined'],
    taskSuccess: ['contained', 'declined'],
  },
  exactMatch: { taskSuccess: ['same', 'declined'] },
  locomoF1: { locomoF1: ['overlap', 'declined'], taskSuccess: ['overlap', 'declined'] },
};

function isExpected(value: number | null, expected: Expected | undefined): boolean {
  if (value === null || expected === undefined) return value === null && expected === undefined;
  return expected === 'part' ? value > 0 && value < 1 : value === expected;
}

/** Describes each wrong score of a planted answer. @param golds four or more that share no word */
export function misjudged(
  golds: readonly string[],
  language: KnownLanguage,
  metrics: readonly MetricDefinition[] = builtInMetrics,
): string[] {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  return Object.entries(PANELS).flatMap(([success, panel]) => {
    // The published rule of LoCoMo knows English and plain characters only.
    if (success === 'locomoF1' && language !== 'en') return [];
    const ways = WAYS.filter(({ name }) => success !== 'locomoF1' || name !== OTHER_WIDTH);
    return golds.flatMap((gold, index) => {
      const others = [1, 2, 3].map((step) => golds[(index + step) % golds.length]!);
      return ways.flatMap((way) => {
        const turn = plantedTurn(plantAnswer(way, gold, others, language), success);
        return Object.entries(panel).flatMap(([name, kinds]) => {
          const expected = kinds.map((kind) => way.expected[kind]).find((one) => one !== undefined);
          const value = byName.get(name)!.of(turn);
          const fault = `${name} gives ${way.name} (${gold}) ${value}, not ${expected ?? null}`;
          return isExpected(value, expected) ? [] : [fault];
        });
      });
    });
  });
}
