import { readFileSync } from 'node:fs';
import { z } from 'zod';

const texts = z.array(z.string().min(1));
const pronouns = z.enum(['she', 'he', 'it']);

const subject = z.strictObject({
  /** In the user's own voice: "my dentist". */
  label: z.string(),
  /** Left out where nobody would say one: the user, their job. */
  pronoun: pronouns.optional(),
  /** The same in other words, for paraphrases: "the person who cleans my teeth". */
  alt: z.string().optional(),
  /** Before a surname: "Dr." */
  title: z.string().optional(),
  /** Labels of subjects that nobody has beside this one. */
  excludes: texts.optional(),
});

const fact = z.strictObject({
  relation: z.string(),
  /** Name of a list of values, or one for each pronoun of the subject. */
  value: z.union([z.string(), z.partialRecord(pronouns, z.string())]),
  /** Begins the answer so that the value comes next. */
  prefix: z.string(),
  says: texts.min(2),
  asks: texts.min(2),
  /** Questions without the words of the statements. */
  paraphrases: texts,
  /** Statements that replace an earlier value; empty for what never changes. */
  changes: texts,
  /** How two memories of this relation, or one and another on the same day, are combined into one question. */
  combined: z
    .strictObject({
      /** Which subject has the highest value, or the lowest. */
      most: z.string().optional(),
      least: z.string().optional(),
      /** Which subject has the day `{d}`, and how others name such a day: "my appointment with {o}". */
      sameDay: z.string().optional(),
      day: z.string().optional(),
      /** How many subjects have a day in the month `{m}`. */
      inMonth: z.string().optional(),
    })
    .optional(),
  /** Labels of the only subjects that have it, or of those that do not. */
  only: texts.optional(),
  except: texts.optional(),
});

const topic = z.strictObject({
  id: z.string(),
  /** The fact whose value names the subject, and how: "Dr. {v}". */
  link: z.strictObject({ relation: z.string(), as: z.string() }).optional(),
  subjects: z.array(subject).min(1),
  /** Sentences about the subject, by pronoun, that answer no question. */
  talk: texts.min(1),
  facts: z.array(fact).min(1),
});

const factGrammar = z.strictObject({
  language: z.enum(['en', 'zh']),
  unknownAnswer: z.string(),
  /** Shown with every run. */
  note: z.string().optional(),
  /** Between sentences. */
  joiner: z.string(),
  /** Template: a name and what is theirs. */
  possessive: z.string(),
  /** The first words of a label, as the user says them and as they are said to the user. */
  mine: z.string(),
  yours: z.string(),
  /** Words behind which a subject cannot become a pronoun. */
  prepositions: texts,
  pronouns: z.record(pronouns, z.strictObject({ subject: z.string(), possessive: z.string(), object: z.string() })),
  /** Sentences of user and assistant when a conversation turns to a subject, `{o}`. */
  mentions: z.array(z.tuple([z.string(), z.string()])).min(1),
  acknowledgements: texts.min(1),
  /** Templates of a question that is asked once more: `{q}` its words, `{l}` the same within a sentence. */
  repeats: texts.min(1),
  /** Begin the answers to combined questions: the name of a subject, and a count. */
  answerPrefixes: z.strictObject({ subject: z.string(), count: z.string() }),
  /** Words for 0 to 3. */
  counts: texts.length(4),
  chatter: z.array(z.tuple([z.string(), z.string()])).min(1),
  /** Words that question and evidence may share in a paraphrase; in Chinese, characters. */
  stopWords: texts,
  values: z.record(z.string(), texts),
  topics: z.array(topic).min(1),
});

/** Words and sentences of the data sets `facts-…` in one language: `datasets/facts-grammar-LANGUAGE.json`. */
export type FactGrammar = z.infer<typeof factGrammar>;
export type Topic = FactGrammar['topics'][number];
export type Subject = Topic['subjects'][number];
/** A relation of one topic: how it is said and asked. */
export type FactTemplate = Topic['facts'][number];

function read(language: FactGrammar['language']): FactGrammar {
  const url = new URL(`../../../datasets/facts-grammar-${language}.json`, import.meta.url);
  return factGrammar.parse(JSON.parse(readFileSync(url, 'utf8')));
}

export const factGrammars = { en: read('en'), zh: read('zh') } as const;

export type FactLanguage = keyof typeof factGrammars;

export function factsOf({ facts }: Topic, { label }: Subject): FactTemplate[] {
  return facts.filter(({ only, except = [] }) => (only?.includes(label) ?? true) && !except.includes(label));
}

export function valueKind({ value }: FactTemplate, { pronoun }: Subject): string {
  if (typeof value === 'string') return value;
  const kind = value[pronoun ?? 'it'];
  if (kind === undefined) throw new RangeError(`a fact has no values for "${pronoun}"`);
  return kind;
}
