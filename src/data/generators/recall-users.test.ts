import { describe, expect, test } from 'vitest';
import { grammars } from '../../base/english-and-chinese-wordings.ts';
import { containsTokens } from '../normalise-text.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { makeRecallDataset } from './recall-data.ts';
import { FactBook } from './fact-book.ts';
import { isHeldOutValue } from './draw-value.ts';
import { type Relation, relationTopic, USER } from './facts-and-relations.ts';

const countBy = (labels: readonly string[]): Record<string, number> =>
  Object.fromEntries(labels.map((label) => [label, labels.filter((other) => other === label).length]));

const seeds = [7, 20_260_601];
const drawn = (['en', 'zh'] as const).flatMap((language) => seeds.map((seed) => [language, seed] as const));
describe.each(drawn)('forty users in %s of seed %i', (language, seed) => {
  const { users } = makeRecallDataset(language, seed, 40);
  const items = users.flatMap((user) => user.items);

  test('are ten questions each, half of the users recurring, every category well filled', () => {
    expect(users.map((user) => user.items.length)).toEqual(Array.from({ length: 40 }, () => 10));
    expect(countBy(users.map((user) => user.kind))).toEqual({ recurring: 20, large: 20 });
    const categories = { plain: 95, update: 65, several: 50, distractor: 65, history: 50, absent: 75 };
    expect(countBy(items.map((item) => item.category ?? ''))).toEqual(categories);
    const history = items.filter((item) => item.category === 'history');
    expect(history.filter((item) => item.evidence!.length === 0)).toHaveLength(25);
    expect(history.every((item) => item.history!.length >= 2)).toBe(true);
  });

  test('have four or five memories, or 24 to 40, at least two of them preferences', () => {
    for (const { kind, memories } of users) {
      const { length } = memories;
      expect(kind === 'recurring' ? length === 4 || length === 5 : length >= 24 && length <= 40).toBe(true);
      expect(memories.filter((memory) => memory.preference).length).toBeGreaterThanOrEqual(2);
    }
  });

  test('hold held-out values only, each once a user, and none in a question that asks for it', () => {
    for (const { memories, items: asked } of users) {
      const values = memories.map((memory) => memory.value!);
      expect(values.filter((value) => !isHeldOutValue(value))).toEqual([]);
      expect(new Set(values.map((value) => value.toLowerCase())).size).toBe(values.length);
      for (const memory of memories) {
        expect(memories.filter((other) => containsTokens(other.content, memory.value!, language))).toEqual([memory]);
      }
      const given = asked.filter(({ answer, query }) => answer !== null && containsTokens(query, answer, language));
      expect(given).toEqual([]);
    }
  });

  test('questions are distinct, in order of time and after all memories', () => {
    for (const { memories, items: asked } of users) {
      expect(new Set(asked.map((item) => item.query)).size).toBe(10);
      const times = [...memories.map((memory) => memory.createdAt), ...asked.map((item) => item.askedAt)];
      expect(times.every((time, index) => index === 0 || Date.parse(times[index - 1]!) < Date.parse(time))).toBe(true);
    }
  });

  test('evidence holds the answer; an update comes after what it replaces, and both stand there', () => {
    for (const { memories, items: asked } of users) {
      const byId = new Map(memories.map((memory) => [memory.memoryId, memory]));
      for (const item of asked) {
        if (item.answer === null) expect(item.evidence).toEqual([]);
        for (const id of item.evidence!) expect(byId.get(id)!.value).toBe(item.answer);
        if (item.category === 'update') {
          const later = byId.get(item.evidence![0]!)!;
          const earlier = byId.get(later.supersedes!)!;
          expect(item.superseded).toEqual([earlier.value]);
          expect(memories.indexOf(earlier)).toBeLessThan(memories.indexOf(later));
        }
      }
    }
  });

  test('facts said in the conversation occur in its history only', () => {
    for (const { memories, items: asked } of users) {
      for (const { category, evidence, history, answer } of asked) {
        if (category !== 'history') continue;
        const told = history!.some((message) => containsTokens(message.content, answer!, language));
        expect(told).toBe(evidence!.length === 0);
        if (told) expect(memories.some((memory) => containsTokens(memory.content, answer!, language))).toBe(false);
      }
    }
  });

  test('about a quarter is asked in held-out words', () => {
    const share = items.filter((item) => item.phrasing === 'held-out').length / items.length;
    expect(share).toBeGreaterThan(0.18);
    expect(share).toBeLessThan(0.32);
  });
});

test('what could be taken for a known fact is neither stored nor asked as absent', () => {
  const wording = (text: string) => ({ known: [text], trained: [text], heldOut: [] });
  const relation = (attribute: string, open: boolean): Relation => ({
    ...{ grammar: grammars.en, attribute, open, valueKind: 'name', preference: false },
    head: attribute.split(' ').at(-1)!,
    statements: wording('{p} {np} is {v}.'),
    questions: wording('What is {p} {np}?'),
  });
  const book = new FactBook(new SeededRandom(1), grammars.en, 2);
  book.add(USER, relation('spare umbrella', true), 'plain');
  book.add(USER, relation('husband', true), 'plain');
  expect(book.isFree(USER, relation('umbrella', true))).toBe(false);
  expect(book.isFree(USER, { ...relation("partner's name", false), head: "partner's name" })).toBe(false);
  expect(book.isFree(book.others[0]!, relation('umbrella', true))).toBe(true);
  expect(book.isNewTopic(relation('old umbrella', true))).toBe(false);
  expect(relationTopic(relation('company', false))).toBe(relationTopic(relation('boss', false)));
});
