import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { shippedDatasets } from '../../../src/config/shipped-datasets.ts';
import { containsTokens } from '../../../src/data/normalise-text.ts';
import type { WrittenRecord } from '../../../src/data/record-schemas.ts';
import { sharedWords } from './content-words.ts';
import { factGrammars, factsOf, type FactLanguage } from './fact-grammar.ts';
import { factValues, valuesOf } from './fact-values.ts';
import { factsName, makeFactsDataset } from './facts-dataset.ts';
import { worded, type Naming } from './wording.ts';

type Header = Extract<WrittenRecord, { type: 'dataset' }>;
type Memory = Extract<WrittenRecord, { type: 'memory' }>;
type Item = Extract<WrittenRecord, { type: 'item' }>;

function parsed(text: string) {
  const lines = text.trim().split('\n');
  const records = lines.map((line) => JSON.parse(line) as WrittenRecord);
  const header = records[0] as Header;
  const memories = records.filter((record): record is Memory => record.type === 'memory');
  const items = records.filter((record): record is Item => record.type === 'item');
  const users = [...new Set(items.map(({ userId }) => userId))].map((userId) => ({
    userId,
    memories: memories.filter((memory) => memory.userId === userId),
    items: items.filter((item) => item.userId === userId),
  }));
  return { header, memories, items, users };
}

function countBy<T>(all: readonly T[], of: (one: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of all) counts[of(one)] = (counts[of(one)] ?? 0) + 1;
  return counts;
}

const goldsOf = ({ answer, acceptedAnswers = [] }: Item): string[] =>
  answer === null ? [] : [answer, ...acceptedAnswers];

/** True for a question that compares or counts memories, or joins them by a day. */
const isCombined = ({ category, answerPrefix }: Item): boolean =>
  category === 'two memories' &&
  Object.values(factGrammars).some(({ answerPrefixes }) => Object.values(answerPrefixes).includes(answerPrefix!));

const languages = Object.keys(factGrammars) as FactLanguage[];
const sets = languages.flatMap((language) =>
  ([1, 2] as const).flatMap((edition) => [
    { source: { language, split: 'test', edition } as const, count: edition === 1 ? 40 : 60 },
    { source: { language, split: 'development', edition } as const, count: 20 },
  ]),
);
const named = sets.map((set) => ({ name: factsName(set.source), ...set }));

describe.each(named)('$name', ({ name, source, count }) => {
  const { language, split, edition } = source;
  const text = makeFactsDataset(source, 7, count);
  const { header, memories, items, users } = parsed(text);
  const byId = new Map(memories.map((memory) => [memory.memoryId, memory]));
  const grammar = factGrammars[language];

  test('is what the grammar and seed 7 make: else run `npx tsx scripts/datasets/make-shipped.ts`', () => {
    expect(readFileSync(shippedDatasets().get(name)!, 'utf8') === text).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThan(2.5e6);
    expect(makeFactsDataset(source, 8, 2)).not.toBe(makeFactsDataset(source, 7, 2));
    expect(header).toMatchObject({ name, language, split, primaryMetric: 'contains' });
  });

  test.skipIf(edition === 2)('has ten questions a user, in the shares of the categories', () => {
    expect(users.map((user) => user.items.length)).toEqual(Array.from({ length: count }, () => 10));
    const of = (share: number): number => Math.round(share * items.length);
    const told = { plain: of(0.3), paraphrase: of(0.2), updated: of(0.15), 'two memories': of(0.13) };
    expect(countBy(items, ({ category }) => category!)).toEqual({ ...told, absent: of(0.12), history: of(0.1) });
    const relations = countBy(items, ({ relation }) => relation!);
    expect(Object.keys(relations).length).toBeGreaterThanOrEqual(40);
  });

  test.skipIf(edition === 1)('has three questions of each category a user, none of them twice', () => {
    const categories = ['plain', 'paraphrase', 'updated', 'two memories', 'distractor', 'absent', 'history'];
    const three = Object.fromEntries(categories.map((category) => [category, 3]));
    for (const user of users) {
      expect(countBy(user.items, ({ category }) => category!)).toEqual(three);
      expect(new Set(user.items.map(({ query }) => query)).size).toBe(user.items.length);
    }
  });

  test('has small and large users, whose memories hold their values', () => {
    const sizes = users.map((user) => user.memories.length).sort((a, b) => a - b);
    expect([sizes[0], sizes.at(-1)]).toEqual(edition === 1 ? [10, 400] : [60, 300]);
    expect(sizes[count / 2 - 1]).toBeLessThanOrEqual(edition === 1 ? 25 : 100);
    for (const { memories: told } of users) {
      expect(told.every(({ value, relation }) => value !== undefined && relation !== undefined)).toBe(true);
      expect(told.every(({ content, value }) => containsTokens(content, value!, language))).toBe(true);
    }
  });

  test('gives a gold away in no other memory, no question and no conversation but one that says it', () => {
    for (const user of users) {
      for (const item of user.items) {
        for (const gold of goldsOf(item)) {
          const holders = user.memories.filter(({ content }) => containsTokens(content, gold, language));
          // A count, and the name of a subject that every memory about it holds.
          if (!isCombined(item)) expect(holders.every(({ memoryId }) => item.evidence!.includes(memoryId))).toBe(true);
          expect(containsTokens(item.query, gold, language)).toBe(false);
        }
        const said = (item.history ?? []).some(({ content }) =>
          goldsOf(item).some((gold) => containsTokens(content, gold, language)),
        );
        expect(said).toBe(item.category === 'history' && item.evidence!.length === 0);
      }
    }
  });

  test('has evidence as each category needs it', () => {
    for (const item of items) {
      const { category, evidence = [], answer, superseded = [], history = [], answerPrefix } = item;
      const told = evidence.map((id) => byId.get(id)!);
      const last = told.at(-1);
      expect(answerPrefix === undefined).toBe(answer === null);
      expect(history.length > 0).toBe(category === 'history');
      expect(superseded.length > 0).toBe(category === 'updated');
      if (category === 'absent') expect([answer, evidence]).toEqual([null, []]);
      else if (last !== undefined && !isCombined(item)) expect(last.value).toBe(answer);
      expect(last?.supersedes !== undefined).toBe(category === 'updated');
      if (category === 'updated') expect(superseded[0]).toBe(byId.get(last!.supersedes!)!.value);
      if (isCombined(item)) {
        expect(told.length).toBeGreaterThanOrEqual(2);
      } else if (category === 'two memories') {
        expect(told).toHaveLength(2);
        expect(last!.content).toContain(told[0]!.value);
      } else expect(told.length).toBeLessThanOrEqual(1);
      const replaced = new Set(memories.map(({ supersedes }) => supersedes));
      expect(evidence.some((id) => replaced.has(id))).toBe(false);
    }
  });

  test('asks in other words where it paraphrases, and in words of the memory where it does not', () => {
    for (const { category, query, evidence = [] } of items) {
      const told = evidence.map((id) => byId.get(id)!.content).join('\n');
      if (category === 'paraphrase') expect([query, sharedWords(grammar, query, told)]).toEqual([query, []]);
      if (category === 'plain') expect([query, sharedWords(grammar, query, told).length > 0]).toEqual([query, true]);
    }
  });

  test('asks for nothing as absent that a memory tells', () => {
    const subjects = grammar.topics.flatMap((topic) => topic.subjects.map((subject) => ({ topic, subject })));
    for (const user of users) {
      for (const { category, query, relation } of user.items) {
        if (category !== 'absent') continue;
        const plain = query.toLowerCase();
        const asks = (text: string): boolean => plain.includes(text.toLowerCase().replace(/[?？]$/, ''));
        const asked = subjects.flatMap(({ topic, subject }) =>
          factsOf(topic, subject)
            .filter((fact) => fact.relation === relation)
            .filter((fact) => fact.asks.some((ask) => asks(worded(grammar, ask, subject, 'mine'))))
            .map((fact) => ({ topic, subject, fact })),
        );
        expect(asked).toHaveLength(1);
        const [{ topic, subject, fact }] = asked as [(typeof asked)[number]];
        const says = (told: Memory, of: string | undefined, texts: readonly string[], naming: Naming): boolean =>
          told.relation === of &&
          texts.some((text) => told.content.includes(worded(grammar, text, subject, naming, told.value)));
        const { link } = topic;
        const linking = topic.facts.find((one) => one.relation === link?.relation);
        const names = user.memories
          .filter((told) => linking !== undefined && says(told, linking.relation, linking.says, 'mine'))
          .map(({ value }) => ({ name: worded(grammar, link!.as, subject, 'mine', value) }));
        const linked: Naming[] = ['mine', ...names];
        const texts = [...fact.says, ...fact.changes];
        expect(user.memories.filter((told) => linked.some((naming) => says(told, relation, texts, naming)))).toEqual(
          [],
        );
      }
    }
  });

  test.skipIf(edition === 2)('returns to the same memories within the first three questions', () => {
    for (const user of users) {
      const [first, ...next] = user.items.slice(0, 3).map(({ evidence }) => evidence!.join());
      expect(first).not.toBe('');
      expect(next).toContain(first);
    }
  });

  test('has golds that another item of the relation seldom has', () => {
    const rates: number[] = [];
    for (const item of items) {
      const others = items.filter(({ relation, userId }) => relation === item.relation && userId !== item.userId);
      const right = others.filter(
        ({ answer }) => answer !== null && goldsOf(item).some((gold) => containsTokens(answer, gold, language)),
      );
      if (item.answer !== null && others.length > 0) rates.push(right.length / others.length);
    }
    expect(rates.reduce((sum, rate) => sum + rate, 0) / rates.length).toBeLessThan(0.02);
  });
});

test.each(languages)('%s: development and test share no id and few golds', (language) => {
  const tested = parsed(makeFactsDataset({ language, split: 'test', edition: 1 }, 7, 40));
  const developed = parsed(makeFactsDataset({ language, split: 'development', edition: 1 }, 7, 20));
  const ids = new Set(tested.users.map(({ userId }) => userId));
  expect(developed.users.filter(({ userId }) => ids.has(userId))).toEqual([]);
  const golds = new Set(tested.items.map(({ relation, answer }) => `${relation}|${answer}`));
  const answered = developed.items.filter(({ answer }) => answer !== null);
  const both = answered.filter(({ relation, answer }) => golds.has(`${relation}|${answer}`));
  expect(both.length / answered.length).toBeLessThan(0.02);
});

test('values are drawn evenly', () => {
  const { memories } = parsed(makeFactsDataset({ language: 'en', split: 'test', edition: 1 }, 11, 80));
  const grammar = factGrammars.en;
  const lists = factValues(grammar);
  const kinds = new Map(grammar.topics.flatMap(({ facts }) => facts.map(({ relation, value }) => [relation, value])));
  const relations = countBy(memories, ({ relation }) => relation!);
  let tried = 0;
  for (const [relation, kind] of kinds) {
    const count = relations[relation] ?? 0;
    if (typeof kind !== 'string' || count < 40) continue;
    tried++;
    const told = memories.filter((memory) => memory.relation === relation);
    const drawn = countBy(told, ({ value }) => value!);
    const list = valuesOf(lists[kind]!, 'test');
    const expected = count / list.length;
    const statistic = list.reduce((sum, { text }) => sum + ((drawn[text] ?? 0) - expected) ** 2 / expected, 0);
    expect(Object.keys(drawn).filter((value) => !list.some(({ text }) => text === value))).toEqual([]);
    // Independent draws give 1 per degree of freedom on average; a deck that is dealt out before it is shuffled again, less.
    expect([relation, statistic / (list.length - 1) < 1.1]).toEqual([relation, true]);
  }
  expect(tried).toBeGreaterThanOrEqual(40);
});
