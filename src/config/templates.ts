import { readFileSync } from 'node:fs';
import { z } from 'zod';

const phrasings = z.object({ known: z.array(z.string()).min(1), heldOut: z.array(z.string()) });
const openRelation = z.object({
  value: z.string(),
  preference: z.boolean().optional(),
  statements: phrasings,
  questions: phrasings,
});

const templatesSchema = z.object({
  segments: z.object({
    system: z.string(),
    memoryHeader: z.string(),
    memory: z.object({ index: z.string(), bullet: z.string() }),
    memoryFooter: z.string(),
    historyHeader: z.string(),
    userMessage: z.string(),
    assistantMessage: z.string(),
    historyFooter: z.string(),
    query: z.string(),
    footer: z.string(),
    forcedFooter: z.string(),
  }),
  systemPrompts: z.array(z.string()).min(1),
  unknownAnswer: z.string(),
  relations: z.array(openRelation.extend({ name: z.string() })).min(1),
  generic: z.object({ statements: phrasings, updates: phrasings, questions: phrasings }),
  openRelations: z.array(openRelation).min(1),
  nouns: z.array(z.string()).min(1),
  adjectives: z.array(z.string()).min(1),
  roles: z.array(z.string()).min(1),
  verbs: z.record(z.string(), z.string()),
  values: z.record(z.string(), z.object({ real: z.array(z.string()).min(1) })),
  months: z.array(z.string()).length(12),
  chatter: z.array(z.tuple([z.string(), z.string()])).min(1),
  acknowledgements: z.array(z.string()).min(1),
  syllables: z.object({ onsets: z.array(z.string()), vowels: z.array(z.string()), codas: z.array(z.string()) }),
});

/** The grammar that prompts, data sets and training dialogues share: `datasets/templates.json`. */
export type Templates = z.infer<typeof templatesSchema>;
/** Wordings of one statement or question; those under `heldOut` are never trained on. */
export type Phrasings = z.infer<typeof phrasings>;

export const templates: Templates = templatesSchema.parse(
  JSON.parse(readFileSync(new URL('../../datasets/templates.json', import.meta.url), 'utf8')),
);
