import { z } from 'zod';

const MOST_TEXT_BYTES = 8 * 2 ** 20;

const id = z.string().regex(/\S/, 'expected an id, not blank');
const anyText = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= MOST_TEXT_BYTES, 'expected at most 8 MiB of text');
const text = anyText.regex(/\S/, 'expected some text, not blank');
const instant = z.iso.datetime({ offset: true, error: 'expected a time such as 2026-03-01T09:00:00Z' });

/** The optional first record of a file: what holds for all of it. */
const datasetRecord = z.strictObject({
  type: z.literal('dataset'),
  name: id,
  language: z.enum(['en', 'zh']),
  version: z.number().int().positive(),
  seed: z.number().int().optional(),
  unknownAnswer: text,
  userKinds: z.record(z.string(), z.enum(['recurring', 'large'])).optional(),
});

/** One sentence that a user's memory holds. */
const memoryRecord = z.strictObject({
  type: z.literal('memory'),
  userId: id,
  memoryId: id,
  content: text,
  createdAt: instant,
  /** The part of the content that a question may ask for. */
  value: text.optional(),
  preference: z.boolean().default(false),
  /** The earlier memory that this one makes out of date. */
  supersedes: id.optional(),
  /** What strategies of recall may go by: under which heading it is filed, what it is about, how often it was said. */
  section: id.optional(),
  memoryType: id.optional(),
  reinforcement: z.number().int().min(0).optional(),
});

/** One question; `answer` null means that nothing the user said answers it. */
const itemRecord = z.strictObject({
  type: z.literal('item'),
  itemId: id,
  userId: id,
  /** May be empty: what a system does then is for the bench to see. */
  query: anyText,
  answer: text.nullable(),
  acceptedAnswers: z.array(text).default([]),
  /** The memories that answer it; empty where the history does, or nothing. */
  evidence: z.array(id).default([]),
  /** Values that a later memory replaced. */
  superseded: z.array(text).default([]),
  /** For grouping alone; any name. */
  category: id.default('uncategorised'),
  phrasing: z.enum(['known', 'held-out']).optional(),
  /** What a suite varies, as a number: the share of the window, the number of memories, the depth of the conversation. */
  condition: z.number().optional(),
  /** Questions of one user with the same name follow one another in one session: what was answered is history for the next. */
  conversation: id.optional(),
  askedAt: instant,
  history: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: text })).default([]),
});

/** A question whose evidence is known and whose answer is not: recall can be measured on it, and nothing else. */
const questionRecord = z.strictObject({
  type: z.literal('question'),
  itemId: id,
  userId: id,
  query: text,
  /** The memories that it needs, all of them. */
  evidence: z.array(id).min(1, 'expected the memories that it needs, at least one'),
  category: id.default('uncategorised'),
  askedAt: instant,
});

/** The records of a data set by their `type`. */
export const recordSchemas = {
  ...{ dataset: datasetRecord, memory: memoryRecord, item: itemRecord },
  question: questionRecord,
} as const;

export type DatasetRecord = z.infer<typeof datasetRecord>;
export type MemoryRecord = z.infer<typeof memoryRecord>;
export type ItemRecord = z.infer<typeof itemRecord>;
export type QuestionRecord = z.infer<typeof questionRecord>;
/** Any line of a data set as it may be written, defaults left out. */
export type WrittenRecord = z.input<(typeof recordSchemas)[keyof typeof recordSchemas]>;
