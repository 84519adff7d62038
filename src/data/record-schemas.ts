import { z } from 'zod';
import { controlCharacters } from '../base/control-characters.ts';
import { safeRecord } from '../base/prototype-safe-records.ts';
import { isLanguageTag } from '../base/language.ts';
import { plannedContrast } from '../store/records/planned-contrast.ts';

const MAX_TEXT_BYTES = 8 * 2 ** 20;
/** More than any context window in use. */
const MAX_QUERY_BYTES = 128 * 2 ** 10;

export const id = z
  .string()
  // Unicode spellings of one name are equal.
  .normalize('NFC')
  .regex(/\S/, 'expected an id, not blank')
  .refine((value) => value.search(controlCharacters) === -1, 'expected an id without control characters');
const once = (named: readonly string[]): string[] => [...new Set(named)];
const ids = z.array(id).transform(once);
const fits = (bytes: number) => (value: string) => Buffer.byteLength(value) <= bytes;
const anyText = z.string().refine(fits(MAX_TEXT_BYTES), 'expected at most 8 MiB of text');
const text = anyText.regex(/\S/, 'expected some text, not blank');
const question = text.refine(fits(MAX_QUERY_BYTES), 'expected a question of at most 128 KiB');
const language = z.string().refine(isLanguageTag, 'expected a language such as en, zh, de or pt-BR');
export const instant = z.iso.datetime({ offset: true, error: 'expected a time such as 2026-03-01T09:00:00Z' });

/** What a file declares about itself; every run on the file records it. */
export const datasetDeclaration = z.object({
  /** Name of the metric that compares arms; default `exactMatch`. */
  primaryMetric: id.exactOptional(),
  /** The one contrast between kinds of question that is planned before a run. */
  plannedContrast: plannedContrast.exactOptional(),
  /** `development`: for choosing settings; `test`: for measuring. */
  split: z.enum(['development', 'test']).exactOptional(),
  licence: text.exactOptional(),
  /** `withheld`: texts are private or belong to others; reports hold hashes instead. */
  texts: z.literal('withheld').exactOptional(),
  /** One sentence that a reader of any result must know; printed with every run. */
  note: text.exactOptional(),
});

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
  ...datasetDeclaration.shape,
});

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
  /** What the value describes, such as `city`: values of one relation are alternatives to each other. */
  relation: id.optional(),
  preference: z.boolean().default(false),
  supersedes: id.optional(),
  /** Metadata for retrieval strategies: file and section that hold the memory, its type, how often it was said. */
  uri: id.optional(),
  /** Whether it concerns the user, or one project of the user. */
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
  /** Alias of `acceptedAnswers`. */
  aliases: z.array(text).optional(),
  /** Begins the answer; the gold comes next, as after `You moved to`. */
  answerPrefix: text.optional(),
  /** System message for this question; empty for none. */
  systemPrompt: anyText.optional(),
  /** As for memories: golds of one relation are alternatives to each other. */
  relation: id.optional(),
  /** Default: the user's language. */
  language: language.optional(),
  /** Ids of the memories that answer it; empty if the history answers it, or nothing does. */
  evidence: ids.default([]),
  /** Earlier values, which a later memory replaced. */
  superseded: z.array(text).default([]),
  /** Ids of the memories that another retriever found, best first, for `--retriever given`. */
  passages: z.array(id).optional(),
  /** Points that a full answer makes, each scored apart; none for an answer that is right or wrong as a whole. */
  nuggets: z.array(text).min(1, 'expected at least one point').optional(),
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
  evidence: z.array(id).min(1, 'expected at least one memory that answers it').transform(once),
  category: id.default('uncategorised'),
  askedAt: instant,
});

export const recordSchemas = {
  dataset: datasetRecord,
  memory: memoryRecord,
  item: itemRecord,
  question: questionRecord,
} as const;

export type DatasetDeclaration = Readonly<z.infer<typeof datasetDeclaration>>;
export type DatasetRecord = z.infer<typeof datasetRecord>;
export type MemoryRecord = z.infer<typeof memoryRecord>;
export type ItemRecord = Omit<z.infer<typeof itemRecord>, 'aliases'>;
export type HistoryMessage = ItemRecord['history'][number];
export type QuestionRecord = z.infer<typeof questionRecord>;
/** Any record as a file may state it, before defaults. */
export type WrittenRecord = z.input<(typeof recordSchemas)[keyof typeof recordSchemas]>;
export type WrittenMemory = z.input<typeof memoryRecord>;
export type WrittenItem = z.input<typeof itemRecord>;
