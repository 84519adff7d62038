import { expect, test } from 'vitest';
import { metricsVersion } from './metrics-version.ts';
import { scoreTurn, type ScoredItem, type ScoredTurn } from './score-turn.ts';

const dataset = { unknownAnswer: "I don't know.", language: 'en' } as const;

const item: ScoredItem = {
  query: 'What is my dog called?',
  answer: 'Brenko',
  acceptedAnswers: [],
  evidence: ['m2'],
  superseded: ['Oldsku'],
  history: [{ content: 'Hello there.' }],
};

const turn: ScoredTurn = {
  answer: 'Brenko.',
  storedIds: ['m1', 'm2', 'm3'],
  retrievedIds: ['m3', 'm2'],
  keptIds: ['m2', 'm3'],
  shown: [
    { memoryId: 'm1', content: 'I have a dog named Oldsku.', value: 'Oldsku' },
    { memoryId: 'm2', content: 'My dog is now Brenko.', value: 'Brenko' },
    { memoryId: 'm3', content: 'My cat is called Tirva.', value: 'Tirva' },
  ],
};

const wrongClass = (answer: string, changes: Partial<ScoredItem> = {}) =>
  scoreTurn({ ...item, ...changes }, { ...turn, answer }, dataset).wrongClass;

const textScores = ['exactMatch', 'squadExactMatch', 'contains', 'tokenF1', 'rougeL', 'bleu', 'memoryRecall'];
const texts = (score: number | null) => Object.fromEntries(textScores.map((name) => [name, score]));
const allStages = ['stored', 'retrieved', 'kept', 'sequence', 'answered'];
const right = { taskSuccess: 1, wrongClass: null, failedStage: null, locomoF1: null };

test('a right answer scores 1 throughout and passes the whole funnel', () => {
  const scores = { ...texts(1), ...right, abstention: null, passedStages: allStages, evidenceRank: 2 };
  expect(scoreTurn(item, turn, dataset)).toEqual(scores);
});

test.each<[answer: string, expected: string, gold?: string]>([
  ["I don't know.", 'wrong-abstention'],
  ['Oldsku or Tirva.', 'superseded'],
  ['Tirva.', 'confused'],
  // With the gold beside it, the old value is not all that the answer knows.
  ['Oldsku, now Brenko.', 'confused'],
  ['Brenka.', 'near-copy'],
  ['Brenko Dral.', 'near-copy'],
  ['Quzzel.', 'fabricated'],
  ['Your dog is called Your Majesty.', 'fabricated'],
  ['My dog is called dog.', 'off-topic'],
  ['', 'off-topic'],
  // A short gold is not near to any other short answer.
  ['7', 'fabricated', '42'],
])('the first class that fits %j is %s', (answer, expected, gold = 'Brenko') => {
  expect(wrongClass(answer, { answer: gold })).toBe(expected);
});

test('an item with nuggets has their share as its recall, and no score as a whole', () => {
  const several = { ...item, answer: 'Brenko and Tirva', nuggets: ['Brenko', 'Tirva', 'Oldsku', 'Quzzel'] };
  const unknown = { exactMatch: null, squadExactMatch: null, contains: null, taskSuccess: null, wrongClass: null };
  const scores = scoreTurn(several, { ...turn, answer: 'They are Tirva and Brenko.' }, dataset);
  expect(scores).toMatchObject({ ...unknown, memoryRecall: 0.5, abstention: null, evidenceRank: 2 });
  expect(scores.tokenF1).toBeCloseTo((2 * (3 / 5)) / (3 / 5 + 1));
  expect([scores.failedStage, scores.passedStages]).toEqual([null, allStages.slice(0, -1)]);
  const byRecall = { metric: 'memoryRecall', version: metricsVersion };
  const decided = (answer: string) => scoreTurn(several, { ...turn, answer }, dataset, byRecall);
  expect(decided('Tirva')).toMatchObject({ taskSuccess: 0.25, failedStage: 'answered' });
  expect(decided('Brenko, Tirva, Oldsku, Quzzel')).toMatchObject({
    taskSuccess: 1,
    failedStage: null,
    wrongClass: null,
  });
});

test('an absent item is right only by abstaining', () => {
  const absent = { ...item, answer: null, evidence: [], superseded: [] };
  const scores = { ...texts(null), ...right, abstention: 1, passedStages: [], evidenceRank: null };
  expect(scoreTurn(absent, { ...turn, answer: "I don't know." }, dataset)).toEqual(scores);
  expect(scoreTurn(absent, turn, dataset)).toMatchObject({ abstention: 0, taskSuccess: 0, wrongClass: 'confused' });
  expect(wrongClass('Quzzel.', absent)).toBe('fabricated');
});

test.each<[string, Partial<ScoredTurn>]>([
  ['stored', { storedIds: ['m1'] }],
  ['retrieved', { retrievedIds: ['m3'], keptIds: [] }],
  ['kept', { keptIds: ['m3'] }],
  ['sequence', { shown: [] }],
  ['answered', { answer: 'Tirva.' }],
])('the funnel names the first stage that lost the evidence: %s', (stage, changes) => {
  expect(scoreTurn(item, { ...turn, ...changes }, dataset).failedStage).toBe(stage);
});

test('an item that its history answers needs no memory', () => {
  const told = { ...item, evidence: [], superseded: [] };
  const scores = scoreTurn(told, { ...turn, retrievedIds: [], keptIds: [], shown: [] }, dataset);
  expect(scores).toMatchObject({ failedStage: null, evidenceRank: null, exactMatch: 1 });
});

test('answers are split and judged by the language profile of the user', () => {
  const chinese = { unknownAnswer: '我不知道。', language: 'zh' } as const;
  const asked = { ...item, query: '门的密码是什么？', answer: '４８２１', superseded: [] };
  const of = (answer: string, languageProfile: typeof chinese | typeof dataset, gold: string | null = '４８２１') =>
    scoreTurn({ ...asked, answer: gold }, { ...turn, answer }, languageProfile);
  expect(of('它叫布伦科', chinese, '布伦科').tokenF1).toBeCloseTo(0.75, 12);
  expect(of('它叫布伦科', dataset, '布伦科').tokenF1).toBe(0);
  expect(of('密码是4821。', chinese).memoryRecall).toBe(1);
  expect(of('密码是4821。', dataset).memoryRecall).toBe(1);
  expect(of('我不清楚。', chinese, null)).toMatchObject({ abstention: 1, taskSuccess: 1, wrongClass: null });
  expect(of('我不清楚。', dataset, null)).toMatchObject({ abstention: 0, taskSuccess: 0, wrongClass: 'fabricated' });
  expect(of("I don't know.", chinese, null)).toMatchObject({ abstention: 0, wrongClass: 'fabricated' });
  expect(of('我不知道', chinese).wrongClass).toBe('wrong-abstention');
});

test('the metric that is named decides what is right, and with it the class and the funnel', () => {
  const said = { ...turn, answer: 'Your dog is called Brenko.' };
  expect(scoreTurn(item, said, dataset)).toMatchObject({ contains: 1, taskSuccess: 0, failedStage: 'answered' });
  expect(scoreTurn(item, said, dataset, { metric: 'contains', version: 2 })).toMatchObject({
    ...right,
    contains: 1,
    exactMatch: 0,
  });
  expect(scoreTurn(item, said, dataset, { metric: 'tokenF1', version: 2 }).taskSuccess).toBeCloseTo(1 / 3, 12);
  expect(scoreTurn(item, said, dataset, { metric: 'goldLogProb', version: 2 }).taskSuccess).toBe(1);
});

test('rivals are superseded values and those of the same relation; others spoil an answer as a recital alone', () => {
  const of = (answer: string, relation?: string) => {
    const shown = turn.shown.map((memory) => (memory.memoryId === 'm3' ? { ...memory, relation } : memory));
    return scoreTurn({ ...item, relation: 'pet' }, { ...turn, shown, answer }, dataset).contains;
  };
  expect([of('Brenko and Tirva.', 'pet'), of('Brenko and Tirva.', 'cat'), of('Brenko and Tirva.')]).toEqual([0, 1, 1]);
  expect(of('Brenko, once Oldsku.')).toBe(0);
});

test('an item whose evidence is unknown is scored, and has neither rank nor funnel', () => {
  const scores = (changes: Partial<ScoredItem>) => scoreTurn({ ...item, ...changes }, turn, dataset);
  const unknown = { ...right, contains: 1, abstention: null, passedStages: [], evidenceRank: null };
  expect(scores({ evidence: [], history: [] })).toMatchObject(unknown);
  expect(scores({ evidence: [] })).toMatchObject({ passedStages: allStages, evidenceRank: null });
  expect(scores({ evidence: [], history: [], conversation: 'c' })).toMatchObject({ passedStages: allStages });
});

test.each<[answer: string, gold: string, before: readonly number[], now: readonly number[]]>([
  ['15', '1.5', [1, 0], [0, 0]],
  ['1030', '10:30', [1, 0], [0, 0]],
  ['C++', 'C', [1, 1], [0, 0]],
  ['You use C.', 'C++', [0, 1], [0, 0]],
  ['−5', '-5', [0, 0], [1, 1]],
  ['You love 🍕.', '🍕', [0, 0], [0, 1]],
])('%j for %j: answers of older runs keep the scores of version 1', (answer, gold, before, now) => {
  const of = (version: 1 | 2) => {
    const scores = scoreTurn({ ...item, answer: gold }, { ...turn, answer }, dataset, { metric: 'contains', version });
    return [scores.exactMatch, scores.contains];
  };
  expect(of(1)).toEqual(before);
  expect(of(2)).toEqual(now);
});
