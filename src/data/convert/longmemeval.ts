import { z } from 'zod';
import { formatValue } from '../../base/bench-error.ts';
import { dayInWords, readInstant, datedTurn } from './dates.ts';
import type { JsonElements } from '../stream-json-list.ts';
import type { ConversionNotes, SourceMemory, SourceRecord } from './source-record.ts';
import { checkSchema, mismatch } from '../check-schema.ts';

const turnSchema = z.looseObject({
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  has_answer: z.boolean().default(false),
});

const questionSchema = z.looseObject({
  question_id: z.string().regex(/\S/, 'expected an id'),
  question_type: z.string().regex(/\S/, 'expected a type such as multi-session'),
  question: z.string(),
  answer: z.union([z.string(), z.number()], 'expected a text or a number'),
  question_date: z.string(),
  haystack_dates: z.array(z.string()),
  haystack_sessions: z.array(z.array(z.unknown())),
});

type Question = z.output<typeof questionSchema>;

const ABSTENTION = 'abstention';
/** Its gold answer is a rubric for a judge, which no answer contains word by word. */
const PREFERENCE = 'single-session-preference';

/** Reads `2023/05/20 (Sat) 02:21`. @throws BenchError `bad-data` for anything else */
function readTime(text: string, at: string): number {
  const instant = readInstant(text.replace(/\s*\([A-Za-z]+\)\s*/, ' ').replaceAll('/', '-'));
  if (instant !== undefined) return Date.parse(instant.iso);
  const hint = 'LongMemEval dates every session and every question';
  throw mismatch(at, 'a time such as 2023/05/20 (Sat) 02:21', formatValue(text), hint);
}

/** Turns of all sessions as memories, one second apart within a session, since the file gives only their order. */
function readTurns(question: Question, place: string, notes: ConversionNotes) {
  const { question_id: userId, haystack_dates: dates, haystack_sessions: sessions } = question;
  if (dates.length !== sessions.length) {
    const expectation = `a date for each of ${sessions.length} sessions`;
    const hint = 'both lists have one entry for each session';
    throw mismatch(`${place}: haystack_dates`, expectation, String(dates.length), hint);
  }
  const memories: SourceMemory[] = [];
  const evidence: string[] = [];
  for (const [session, turns] of sessions.entries()) {
    const startMs = readTime(dates[session]!, `${place}: haystack_dates[${session}]`);
    for (const [index, value] of turns.entries()) {
      const at = `${place} haystack_sessions[${session}][${index}]`;
      const { role, content, has_answer: isEvidence } = checkSchema(turnSchema, value, at);
      if (content.trim() === '') {
        notes.add('turns without text were left out', at);
        continue;
      }
      const memoryId = `${userId}/${session + 1}:${index + 1}`;
      if (isEvidence) evidence.push(memoryId);
      const createdAt = new Date(startMs + index * 1000).toISOString();
      const line = datedTurn(startMs, role, content.trim());
      memories.push({ kind: 'memory', place: at, userId, memoryId, content: line, createdAt });
    }
  }
  return { memories, evidence };
}

function* readQuestion(question: Question, place: string, notes: ConversionNotes): Generator<SourceRecord> {
  const { question_id: id, question_type: type, question: query, answer } = question;
  if (type === PREFERENCE) {
    notes.add(`questions of type ${PREFERENCE} were left out: their gold answers are rubrics for a judge`, place);
    return;
  }
  const { memories, evidence } = readTurns(question, place, notes);
  yield* memories;
  const dateMs = readTime(question.question_date, `${place}: question_date`);
  const askedMs = memories.reduce((latest, { createdAt }) => Math.max(latest, Date.parse(createdAt!)), dateMs);
  if (askedMs > dateMs) notes.add('questions dated before the end of their history are asked after it', place);
  const isAbsent = id.endsWith('_abs');
  if (!isAbsent && evidence.length === 0)
    notes.add('questions without a turn marked has_answer have no evidence', place);
  yield {
    kind: 'item',
    place,
    userId: id,
    itemId: id,
    query: `Today is ${dayInWords(dateMs)}. ${query}`,
    answer: isAbsent ? null : String(answer),
    evidence: isAbsent ? [] : evidence,
    category: isAbsent ? ABSTENTION : type,
    askedAt: new Date(askedMs).toISOString(),
  };
}

/**
 * Reads files of LongMemEval, `oracle` or `s`. Each question becomes a user, and each turn of its history, by either
 * speaker, a memory with its date. Questions begin with their date, as published. Ids ending with `_abs`: absent items.
 * @throws BenchError `not-found` for a missing file, `bad-data` that names question and turn
 * @see Wu et al. 2024, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory"
 */
export async function* longmemevalRecords(
  path: string,
  questions: JsonElements,
  notes: ConversionNotes,
): AsyncGenerator<SourceRecord> {
  for await (const { place, value } of questions) {
    const question = checkSchema(questionSchema, value, place);
    yield* readQuestion(question, `${path}: ${question.question_id}`, notes);
  }
}
