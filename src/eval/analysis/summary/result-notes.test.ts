import { expect, test } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { askedTwice, changedTurn } from '../../../../test/fixtures/check-input.ts';
import type { RetrievalRecord } from '../../../store/records/turn-record.ts';
import { metricsOfRun } from '../metrics/metric-selection.ts';
import {
  answerPrefixNotes,
  boundNotes,
  evidenceNotes,
  metricNotes,
  promptNotes,
  retrievalNotes,
} from './result-notes.ts';

function turn(arm: string, itemId: string, flags: RetrievalRecord['flags'] | null) {
  const timingsMs = { embedding: 0, search: 0, ranking: 0 };
  const retrieval = flags === null ? null : { strategy: 'tiered', timingsMs, flags, details: {} };
  return changedTurn(arm, { given: { retrieval } }, { itemId });
}

test('counts each question once for all arms, and gives the first reason', () => {
  const gone = [{ flag: 'failed', reason: 'redis://x: reading failed' }] as const;
  const turns = [
    turn('none', 'q1', null),
    turn('rag', 'q1', gone),
    turn('dki', 'q1', gone),
    turn('rag', 'q2', [{ flag: 'failed', reason: 'later' }]),
    turn('rag', 'q3', []),
    turn('rag', 'q4', [{ flag: 'cached', reason: 'asked before' }]),
  ];
  expect(retrievalNotes(turns, {})).toEqual([
    'retrieval failed, and the question was asked without memories: 2 of 4 questions; first reason: redis://x: reading failed',
    'retrieval reused a cached result: 1 of 4 questions; first reason: asked before',
  ]);
});

test('says what a filter would have kept out, where there is one', () => {
  const note = (admitted: number, refused: number, ignored: number) =>
    retrievalNotes([], { wouldBeFiltered: { admitted, refused, ignored } });
  expect(note(3, 1, 6)).toEqual(['the ingress filter would have dropped 7 of 10 memories, 6 of them for being short']);
  expect(note(3, 0, 0)).toEqual([]);
});

test('says whose prompts were cut, arm by arm', () => {
  const turns = [
    changedTurn('rag', { facts: { forced: true, droppedMemories: 4 } }),
    changedTurn('full', { facts: { droppedMemories: 2 } }),
    changedTurn('full', { facts: { droppedMemories: 1, droppedHistory: 1 } }),
    changedTurn('dki', { facts: { droppedMemories: 0 } }),
  ];
  expect(promptNotes(turns, ['rag', 'dki', 'full'])).toEqual([
    'forced truncation to the query alone: rag in 1 turns',
    'retrieved memories dropped by the budget: full in 2 turns',
    'history cut to its newest messages: full in 1 turns',
  ]);
});

test('says which arms are bounds, and what their knowledge took', () => {
  const selector = { model: 'whole', tokens: 20, layers: 3, ms: 1 } as const;
  const bounds = ['bound', 'oracle'].map((name) => handmadeTraits(name, { deployable: false }));
  expect(boundNotes(askedTwice('bound', { account: { selector } }), [handmadeTraits('rag'), ...bounds])).toEqual([
    'bound is a bound: it uses knowledge that no deployment has. Obtaining it took 40 of the tokens that its 2 turns' +
      ' evaluated, and their time',
  ]);
});

test('says of how many items the evidence is unknown, and what leaves them out', () => {
  const arms = [handmadeTraits('rag'), handmadeTraits('oracle')];
  expect(evidenceNotes({ items: 100, withoutEvidence: 24 }, arms)).toEqual([
    '24 of 100 items name no evidence; they are left out of oracle, ranks of the evidence, the evidence funnel',
  ]);
  expect(evidenceNotes({ items: 100 }, arms)).toEqual([]);
});

test('says how many items have no answer prefix of their own, once for all arms that ask for it', () => {
  const asked = (arm: string, itemId: string, answerPrefix: string | null) =>
    changedTurn(arm, { item: { answerPrefix } }, { itemId });
  const of = (arm: string) => [asked(arm, 'q1', 'You live in'), asked(arm, 'q2', null), asked(arm, 'q3', null)];
  const turns = [...of('rag'), ...of('dki')];
  const [rag, dki] = [handmadeTraits('rag'), handmadeTraits('dki')];
  const item = { answerPrefix: 'item', generalAnswerPrefix: 'You said' };
  const lacking = 'items have no answer prefix and were asked';
  const ofAll = (settings: Readonly<Record<string, string>>) => answerPrefixNotes(turns, [rag, dki], settings);
  expect(ofAll(item)).toEqual([`2 of 3 ${lacking} with the general one, "You said"`]);
  const byLanguage = { en: 'You said', zh: '你说' } as unknown as string;
  expect(ofAll({ ...item, generalAnswerPrefix: byLanguage })).toEqual([
    `2 of 3 ${lacking} with the general one, "You said" or "你说"`,
  ]);
  expect(ofAll({ ...item, generalAnswerPrefix: '' })).toEqual([`2 of 3 ${lacking} without one`]);
  expect(ofAll({ ...item, answerPrefix: 'You said' })).toEqual([]);
  expect(answerPrefixNotes([asked('rag', 'q1', 'You live in')], [rag, dki], { answerPrefix: 'item' })).toEqual([]);
  const ofItem = { ...dki, settings: { answerPrefix: 'item' } } as const;
  const some = [...of('rag'), asked('dki', 'q2', null)];
  expect(answerPrefixNotes(some, [rag, ofItem], { ...item, answerPrefix: 'none' })).toEqual([
    `dki: 1 of 1 ${lacking} with the general one, "You said"`,
  ]);
  const general = { ...rag, settings: { answerPrefix: 'general' } } as const;
  expect(answerPrefixNotes(of('rag'), [general], item)).toEqual([]);
});

test('says that no answer meets the primary metric where answers hold the gold', () => {
  const scored = (exactMatch: number, contains: number) => changedTurn('rag', { scores: { exactMatch, contains } });
  const byExactMatch = metricsOfRun({ dataset: {} });
  expect(metricNotes([scored(0, 1), scored(0, 0)], byExactMatch)).toEqual([
    'no answer of any arm satisfies exact match, but 1 of 2 contain the gold: to judge by that, write "primaryMetric":"contains" in the dataset line of the data',
  ]);
  expect(metricNotes([scored(0, 1), scored(1, 1)], byExactMatch)).toEqual([]);
  expect(metricNotes([scored(0, 0)], byExactMatch)).toEqual([]);
  expect(metricNotes([scored(0, 1)], metricsOfRun({ dataset: { primaryMetric: 'contains' } }))).toEqual([]);
  const errors = { name: 'errors', label: 'errors', kind: 'binary', unit: '%', direction: 'lower', margin: 2 } as const;
  const byErrors = metricsOfRun({ dataset: { primaryMetric: 'errors' }, metrics: [errors] });
  expect(metricNotes([scored(0, 1)], byErrors)).toEqual([]);
});
