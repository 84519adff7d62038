import { z } from 'zod';
import { controlCharacters } from '../base/control-characters.ts';
import { safeRecord } from '../base/prototype-safe-records.ts';
import { isLanguageTag } from '../base/language.ts';

const MAX_TEXT_BYTES = 8 * 2 ** 20;
/** No window that is in use holds more. */
const MAX_QUERY_BYTES = 128 * 2 ** 10;

const id = z
  .string()
  // Two spellings of one name in Unicode are one name.
  .normalize('NFC')
  .regex(/\S/, 'expected an id, not blank')
  .refine((value) => value.search(controlCharacters) === -1, 'expected an id without control characters');
const once = (named: readonly string[]): string[] => [...new Set(named)];
/** Ids; each counts once, even if it is named several times. */
const ids = z.array(id).transform(once);
const anyText = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= MAX_TEXT_BYTES, 'expected at most 8 MiB of text');
const text = anyText.regex(/\S/, 'expected some text, not blank');
const question = text.refine(
  (value) => Buffer.byteLength(value) <= MAX_QUERY_BYTES,
  'expected a question of at most 128 KiB',
);
const language = z.string().refine(isLanguageTag, 'expected a language such as en, zh, de or pt-BR');
const instant = z.iso.datetime({ offset: true, error: 'expected a time such as 2026-03-01T09:00:00Z' });

/** The optional first record of a file: properties of the whole data set. */
const datasetRecord = z.strictObject({
  type: z.literal('dataset'),
  name: id,
  language,
  version: z.number().int().positive(),
  seed: z.number().int().optional(),
  unknownAnswer: text,
  userKinds: safeRecord(z.enum(['recurring', 'large'])).optional(),
  /** Languages of users whose language is not that of the file. */
  userLanguages: safeRecord(language).optional(),
  /** Name of the metric by which arms are compared; `exactMatch` where it is missing. */
  primaryMetric: id.exactOptional(),
  /** `development`: to choose settings by; `test`: to measure. */
  split: z.enum(['development', 'test']).exactOptional(),
  licence: text.exactOptional(),
  /** `withheld`: the texts are others', or private; reports hold hashes in their place. */
  texts: z.literal('withheld').exactOptional(),
  /** One sentence that a reader of any result must know; printed with every run. */
  note: text.exactOptional(),
});

/** One memory of a user: a sentence with its metadata. */
const memoryRecord = z.strictObject({
  type: z.literal('memory'),
  userId: id,
  memoryId: id,
  content: text,
  createdAt: instant,
  /** When it was last said or corrected; not before it was created. */
  updatedAt: instant.optional(),
  /** The part of the content that is the answer to a question. */
  value: text.optional(),
  /** Name of what the value says of the user, such as `city`: values of one relation are alternatives to each other. */
  relation: id.optional(),
  preference: z.boolean().default(false),
  supersedes: id.optional(),
  /** Metadata for retrieval strategies: file and section that it is filed in, its type, and how often it was said. */
  uri: id.optional(),
  /** Of the user, or of the user's project. */
  scope: z.enum(['global', 'project']).optional(),
  section: id.optional(),
  memoryType: id.optional(),
  reinforcement: z.number().int().min(0).optional(),
  links: ids.optional(),
  confidence: z.number().min(0).max(1).optional(),
});

/** One question; `answer` null means that no memory and no message answers it. */
const itemRecord = z.strictObject({
  type: z.literal('item'),
  itemId: id,
  userId: id,
  query: question,
  answer: text.nullable(),
  acceptedAnswers: z.array(text).default([]),
  /** Another name of `acceptedAnswers`; the record keeps that one. */
  aliases: z.array(text).optional(),
  /** Begins the answer so that the gold comes next, such as `You moved to`. */
  answerPrefix: text.optional(),
  /** The instruction of this question's system message; empty for no system message. */
  systemPrompt: anyText.optional(),
  /** As that of a memory: golds of one relation are alternatives to each other. */
  relation: id.optional(),
  /** Missing where it is that of the user. */
  language: language.optional(),
  /** Ids of the memories that answer it; empty if the history answers it, or nothing does. */
  evidence: ids.default([]),
  /** Earlier values, which a later memory replaced. */
  superseded: z.array(text).default([]),
  /** Ids of memories in the order in which a retrieval of the user's own gave them, for `--retriever given`. */
  passages: z.array(id).optional(),
  /** Any name; used for grouping only. */
  category: id.default('uncategorised'),
  phrasing: z.enum(['known', 'held-out']).optional(),
  /** The value of the variable that a suite varies: share of the window, number of memories, depth of the conversation. */
  condition: z.number().optional(),
  /** Questions of one user with the same name share one session: each answer is history for the next question. */
  conversation: id.optional(),
  askedAt: instant,
  history: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: text })).default([]),
});

/** A question with evidence and without an answer: only retrieval can be measured with it. */
const questionRecord = z.strictObject({
  type: z.literal('question'),
  itemId: id,
  userId: id,
  query: question,
  evidence: z.array(id).min(1, 'expected the memories that it needs, at least one').transform(once),
  category: id.default('uncategorised'),
  askedAt: instant,
});

export const recordSchemas = {
  dataset: datasetRecord,
  memory: memoryRecord,
  item: itemRecord,
  question: questionRecord,
} as const;

export type DatasetRecord = z.infer<typeof datasetRecord>;
export type MemoryRecord = z.infer<typeof memoryRecord>;
export type ItemRecord = Omit<z.infer<typeof itemRecord>, 'aliases'>;
/** A message of the conversation before a question. */
export type HistoryMessage = ItemRecord['history'][number];
export type QuestionRecord = z.infer<typeof questionRecord>;
/** Any line of a data set as it may be written, without defaults. */
export type WrittenRecord = z.input<(typeof recordSchemas)[keyof typeof recordSchemas]>;
