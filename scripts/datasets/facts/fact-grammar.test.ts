import { describe, expect, test } from 'vitest';
import { normalise } from '../../../src/data/normalise-text.ts';
import { sharedWords } from './content-words.ts';
import { factGrammars, factsOf } from './fact-grammar.ts';
import { factValues, valuesOf } from './fact-values.ts';
import { pronounAsks, worded } from './wording.ts';

describe.each(Object.values(factGrammars))('facts-grammar-$language', (grammar) => {
  const { language, topics } = grammar;
  const lists = factValues(grammar);
  const facts = topics.flatMap((topic) => topic.facts);
  const kinds = new Set(facts.flatMap(({ value }) => (typeof value === 'string' ? [value] : Object.values(value))));

  test('has at least 40 relations, each with a hundred values for test users', () => {
    expect(new Set(facts.map(({ relation }) => relation)).size).toBeGreaterThanOrEqual(40);
    for (const kind of kinds) expect([kind, valuesOf(lists[kind]!, 'test').length >= 100]).toEqual([kind, true]);
  });

  test('has values once each, none of which is a part of another', () => {
    for (const kind of kinds) {
      const forms = lists[kind]!.map(({ text }) => ` ${normalise(text, language)} `);
      expect([kind, new Set(forms).size]).toEqual([kind, forms.length]);
      const parts =
        language === 'en' ? forms.filter((form) => forms.some((other) => other !== form && other.includes(form))) : [];
      expect([kind, parts]).toEqual([kind, []]);
    }
  });

  test('says no value in a template', () => {
    const templates = topics.flatMap(({ talk, facts, subjects }) => [
      ...talk,
      ...facts.flatMap((fact) => [fact.says, fact.asks, fact.changes, fact.paraphrases, fact.prefix].flat()),
      ...subjects.flatMap(({ label, alt = '' }) => [label, alt]),
    ]);
    const said = [templates, grammar.chatter, grammar.mentions, grammar.acknowledgements].flat(2);
    const texts = said.map((text) => ` ${normalise(text, language)} `);
    for (const kind of kinds) {
      for (const { text, accepted } of lists[kind]!) {
        for (const form of [text, ...accepted]) {
          const value = ` ${normalise(form, language)} `;
          expect([form, texts.filter((one) => one.includes(value))]).toEqual([form, []]);
        }
      }
    }
  });

  test('can paraphrase every subject with other words, and point at every one with a pronoun', () => {
    for (const topic of topics) {
      for (const subject of topic.subjects) {
        const pointed = factsOf(topic, subject).filter((fact) => pronounAsks(grammar, fact, subject).length > 0);
        if (subject.pronoun !== undefined) expect([subject.label, pointed.length >= 1]).toEqual([subject.label, true]);
        for (const fact of factsOf(topic, subject)) {
          if (subject.alt === undefined && topic.subjects.length > 1) continue;
          for (const paraphrase of fact.paraphrases) {
            const query = worded(grammar, paraphrase, subject, 'alt');
            const said = fact.says.map((say) => worded(grammar, say, subject, 'mine', ''));
            const apart = said.some((text) => sharedWords(grammar, query, text).length === 0);
            expect([query, subject.label, apart]).toEqual([query, subject.label, true]);
          }
        }
      }
    }
  });

  test('has the value in every statement, and in no question', () => {
    for (const { says, changes, asks, paraphrases, prefix } of facts) {
      expect([...says, ...changes].filter((text) => text.split('{v}').length !== 2)).toEqual([]);
      expect([...asks, ...paraphrases, prefix].filter((text) => text.includes('{v}'))).toEqual([]);
    }
  });
});
