import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../../../../test/model/bench-fixture.ts';
import { checkInput, rag, runProbes } from '../../../../test/fixtures/check-input.ts';
import { answeredTurn } from '../../../../test/fixtures/turn-record.ts';
import type { AnsweredTurn } from '../../../store/records/turn-record.ts';
import { data, scores } from '../../analysis/checks/data-and-scores.ts';
import { redactTurn } from '../../analysis/redact-turn.ts';
import { scoreTurn } from '../../analysis/metrics/score-turn.ts';
import { rereadDataFiles, recheckTurns } from './recheck-turns-from-data.ts';

const user = 'u-1';
const memories = [
  ['m-1', 'My sister lives in Oslo.', 'Oslo'],
  ['m-2', 'My sister moved to Turin.', 'Turin'],
  ['m-9', 'A long story about boats.', undefined],
].map(([memoryId, content, value]) => ({
  ...{ type: 'memory', userId: user, memoryId, content, value, relation: 'city', createdAt: '2026-01-01T00:00:00Z' },
}));
const item = {
  ...{ type: 'item', itemId: 'i-7', userId: user, query: 'Where does my sister live?', answer: 'Turin' },
  ...{ acceptedAnswers: ['Torino'], evidence: ['m-2'], category: 'updated', relation: 'city' },
  askedAt: '2026-06-01T09:00:00Z',
};
const later = { ...memories[0]!, memoryId: 'm-later', content: 'I moved.', createdAt: '2026-07-01T00:00:00Z' };
const text = [{ type: 'dataset', name: 'x' }, ...memories, later, item].map((line) => JSON.stringify(line)).join('\n');
const profile = { language: 'en', unknownAnswer: "I don't know." } as const;

const base = answeredTurn('rag');
const retrieved = base.given.retrieved.map((one) =>
  one.memoryId === 'm-9' ? { ...one, content: 'A long story about boats.' } : one,
);
/** A turn that says what the file says, with its own scores. */
function turn(changes: Partial<AnsweredTurn> = {}, answer = ' Turin'): AnsweredTurn {
  const shown = memories.slice(0, 2).map(({ memoryId, content, value, relation }) => ({
    ...{ memoryId: memoryId!, content: content!, value, relation },
  }));
  const ids = memories.map(({ memoryId }) => memoryId!);
  const goldTokens = [' Tu', 'rin'].map((token) => ({ token, logProbability: -0.25 }));
  return {
    ...base,
    item: { ...base.item, acceptedAnswers: ['Torino'] },
    given: { retrieved, retrieval: null },
    answer: { ...base.answer, text: answer },
    observed: { ...base.observed, goldTokens, goldLogProbability: -0.5 },
    scores: scoreTurn(
      { ...item, superseded: [], history: [] },
      { answer, storedIds: ids, retrievedIds: ['m-2', 'm-1', 'm-9'], keptIds: ['m-1', 'm-2'], shown },
      profile,
    ),
    ...changes,
  };
}

async function held(stored: readonly AnsweredTurn[], storesTexts = true, content: string | Buffer = text) {
  using folder = new TestFolder();
  const file = folder.file(typeof content === 'string' ? 'data.jsonl' : 'data.jsonl.gz');
  writeFileSync(file, content);
  const lines = await rereadDataFiles([file], new Set([user]));
  const reread = recheckTurns(
    stored.map((one, id) => ({ ...one, id })),
    {
      ...{
        lines,
        arms: [rag],
        limit: undefined,
        storesTexts,
        success: { metric: 'exactMatch', version: 2 } as const,
        isOwnSuccess: false,
      },
      user: { userId: user, languageProfile: profile, memories: [], items: [] },
    },
  );
  const input = checkInput({ probes: { ...runProbes, reread } });
  return [data, scores].map((check) => {
    const { status, evidence } = check(input)!;
    return `${status}: ${evidence}`;
  });
}

const PASSED = [
  'passed: 1 turns have the texts, golds and evidence of 1 questions of the file',
  'passed: 1 stored answers, scored again, have the stored scores',
];

describe('a turn that says what its file says', () => {
  it('passes, also of a file that is packed', async () => {
    expect(await held([turn()])).toEqual(PASSED);
    expect(await held([turn()], true, gzipSync(text))).toEqual(PASSED);
  });

  it('passes where the file has its golds in a list, or some of them as aliases', async () => {
    const { answer, acceptedAnswers, ...rest } = item;
    const stored = turn({ item: { ...turn().item, acceptedAnswers: ['Torino', 'Turino'] } });
    for (const golds of [
      { answer: [answer, 'Torino', 'Turino'] },
      { answer: [answer, 'Torino'], acceptedAnswers: ['Turino'] },
      { answer, acceptedAnswers, aliases: ['Turino'] },
    ]) {
      const lines = [{ type: 'dataset', name: 'x' }, ...memories, { ...rest, ...golds }];
      expect(await held([stored], true, lines.map((line) => JSON.stringify(line)).join('\n'))).toEqual(PASSED);
    }
  });

  it('passes where the file is one JSON list, also packed, and fails as it does for lines', async () => {
    const list = `[\n${text.split('\n').join(',\n')}\n]\n`;
    expect(await held([turn()], true, list)).toEqual(PASSED);
    expect(await held([turn()], true, gzipSync(list))).toEqual(PASSED);
    expect((await held([turn({ item: { ...turn().item, gold: 'Oslo' } })], true, list))[0]).toMatch(/other golds/);
  });

  it('passes where other users have the same ids', async () => {
    const others = text
      .split('\n')
      .slice(1)
      .map((line) => line.replaceAll(user, 'u-2'));
    using folder = new TestFolder();
    writeFileSync(folder.file('data.jsonl'), [text, ...others].join('\n'));
    const lines = await rereadDataFiles([folder.file('data.jsonl')], new Set([user]));
    // Only the memories and questions of the users asked for are kept.
    expect([...lines!.users.keys()]).toEqual([user]);
    expect([...lines!.memories.keys()]).toEqual(['m-1', 'm-2', 'm-9', 'm-later'].map((id) => `${user}:${id}`));
    expect(lines!.users.get(user)!.items).toMatchObject([{ itemId: `${user}:i-7`, evidence: [`${user}:m-2`] }]);
  });

  it('is undecided without a file, and its scores without texts', async () => {
    expect(await held([turn()], true, '[1]')).toEqual(
      ['1 of 1 turns have no data file in JSON', '1 of 1 turns have no data file in JSON'].map(
        (words) => `undecided: ${words}`,
      ),
    );
    expect(await held([redactTurn(turn())], false)).toEqual([
      PASSED[0],
      'undecided: the answers are stored as hashes, which cannot be scored again',
    ]);
  });
});

it.each<[string, Partial<AnsweredTurn>, RegExp]>([
  ["another question's gold", { item: { ...turn().item, gold: 'Oslo' } }, /other golds/],
  ['a gold less', { item: { ...turn().item, acceptedAnswers: [] } }, /other golds/],
  ['another question', { item: { ...turn().item, query: 'Where do I live?' } }, /another question/],
  ['more evidence', { item: { ...turn().item, evidence: 2 } }, /other evidence/],
  [
    'the evidence of another question',
    { given: { retrieval: null, retrieved: retrieved.map((one) => ({ ...one, evidence: !one.evidence })) } },
    /other evidence/,
  ],
  [
    'a memory of the future',
    { given: { retrieval: null, retrieved: [{ ...retrieved[0]!, memoryId: 'm-later', content: 'I moved.' }] } },
    /memories that were created later/,
  ],
  [
    'a memory in other words',
    { given: { retrieval: null, retrieved: retrieved.map((one) => ({ ...one, content: 'Turin.' })) } },
    /memories in other words/,
  ],
  [
    'a question with its gold to the retriever',
    { observed: { ...turn().observed, retrieverQuery: `${item.query} Turin` } },
    /another question to the retriever/,
  ],
  ['another item', { itemId: 'i-8' }, /questions that are not in the file \(1\).*questions that were not asked \(1\)/],
])('detects %s by the file', async (_, changes, words) => {
  expect((await held([turn(changes)]))[0]).toMatch(new RegExp(`^failed: .*${words.source}`));
});

it.each<[string, Partial<AnsweredTurn>, string | undefined, RegExp]>([
  ['an answer scored as the gold', { scores: turn().scores }, ' Oslo', /rag: exactMatch/],
  ['a class of its own', { scores: { ...turn().scores, wrongClass: 'superseded' } }, undefined, /wrongClass/],
  [
    'the first token of the gold alone',
    { observed: { ...turn().observed, goldTokens: turn().observed.goldTokens.slice(0, 1), goldLogProbability: -0.25 } },
    undefined,
    /gold tokens that do not spell the gold/,
  ],
  [
    'another sum',
    { observed: { ...turn().observed, goldLogProbability: -0.25 } },
    undefined,
    /not the sum of its tokens/,
  ],
])('detects %s by the answer', async (_, changes, answer, words) => {
  expect((await held([turn(changes, answer)]))[1]).toMatch(new RegExp(`^failed: .*${words.source}`));
});

it('accepts tokens that hold part of a character, such as an emoji, but not tokens of other letters', async () => {
  const scored = (...tokens: string[]) => {
    const goldTokens = tokens.map((token) => ({ token, logProbability: -0.5 / tokens.length }));
    return held([turn({ observed: { ...turn().observed, goldTokens } })]);
  };
  expect(await scored(' \uFFFD', '\uFFFD', 'rin')).toEqual(PASSED);
  expect((await scored(' \uFFFD', '\uFFFD', 'lo'))[1]).toMatch(/gold tokens that do not spell the gold/);
});
