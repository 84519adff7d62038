import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { knownLanguage, type Language } from './language.ts';

const wordings = z.array(z.string());

const phrasings = z
  .object({ known: wordings.min(1), practised: wordings.default([]), heldOut: wordings })
  .transform(({ known, practised, heldOut }) => ({ known, heldOut, trained: [...known, ...practised] }));
/** At least one is held out, since these statements and questions have no generic wordings to fall back on. */
const heldOutPhrasings = phrasings.refine(({ heldOut }) => heldOut.length > 0);
const openRelation = z.object({
  value: z.string(),
  preference: z.boolean().optional(),
  statements: phrasings,
  questions: phrasings,
});

const shared = {
  systemPrompts: z.array(z.string()).min(1),
  unknownAnswer: z.string(),
  answer: z.string(),
  /** This and the next two are templates: an adjective with its noun, a day of a month, a possession. */
  attribute: z.string(),
  date: z.string(),
  owned: z.string(),
  voices: z.object({
    my: z.string(),
    I: z.string(),
    userPossessive: z.string(),
    user: z.string(),
    possessive: z.string(),
    myRole: z.string(),
    userRole: z.string(),
    theirs: z.string(),
    pronouns: z.array(z.object({ name: z.string(), possessive: z.string() })).min(1),
  }),
  relations: z.array(openRelation.extend({ name: z.string() })).min(1),
  generic: z.object({ statements: heldOutPhrasings, updates: heldOutPhrasings, questions: heldOutPhrasings }),
  openRelations: z.array(openRelation).min(1),
  tasks: z.object({
    bridges: heldOutPhrasings,
    lists: z.array(z.object({ value: z.string(), statements: heldOutPhrasings, questions: heldOutPhrasings })).min(1),
    listing: z.object({ comma: z.string(), and: z.string() }),
    order: heldOutPhrasings,
    /** Template: a thing followed by its date. */
    dated: z.string(),
    choices: heldOutPhrasings,
    sameSubject: heldOutPhrasings,
    sameAttribute: heldOutPhrasings,
    sharedName: z.string(),
  }),
  nouns: z.array(z.string()).min(1),
  adjectives: z.array(z.string()).min(1),
  roles: z.array(z.string()).min(1),
  verbs: z.record(z.string(), z.string()),
  topics: z.array(z.array(z.string()).min(1)),
  lasting: z.array(z.string()),
  values: z.record(z.string(), z.object({ real: z.array(z.string()).min(1) })),
  months: z.array(z.string()).length(12),
  chatter: z.array(z.tuple([z.string(), z.string()])).min(1),
  acknowledgements: z.array(z.string()).min(1),
};

const grammarSchema = z.discriminatedUnion('language', [
  z.object({
    language: z.literal('en'),
    ...shared,
    syllables: z.object({ onsets: z.array(z.string()), vowels: z.array(z.string()), codas: z.array(z.string()) }),
  }),
  z.object({
    language: z.literal('zh'),
    ...shared,
    surnames: z.array(z.string()).min(1),
    characters: z.array(z.string()).min(1),
  }),
]);

/** Wordings of data sets and training dialogues in one language: `datasets/grammar-LANGUAGE.json`. */
export type Grammar = z.infer<typeof grammarSchema>;
/**
 * Wordings of one statement or question: `known` ones occur in data sets and training, `heldOut` ones in data sets only. `trained`
 * ones are `known` ones and those that occur in training only.
 */
export type Phrasings = z.infer<typeof phrasings>;

function read<L extends Grammar['language']>(language: L): Grammar & { readonly language: L } {
  const url = new URL(`../../datasets/grammar-${language}.json`, import.meta.url);
  return grammarSchema.parse(JSON.parse(readFileSync(url, 'utf8'))) as Grammar & { readonly language: L };
}

/** Grammars by language; relations, nouns and roles at one index mean the same in both. */
export const grammars = { en: read('en'), zh: read('zh') } as const;

/** The grammar of a language, English for one without its own. */
export function grammarFor(language: Language): Grammar {
  return grammars[knownLanguage(language) ?? 'en'];
}
