import { z } from 'zod';
import { shownValue } from '../../base/shown-value.ts';
import { checkedBy, expected } from '../parse-record.ts';
import { dayInWords, readInstant, spokenLine } from './instants.ts';
import type { JsonElements } from './json-elements.ts';
import type { ConversionNotes, SourceMemory, SourceRecord } from './source-record.ts';

const turnSchema = z.looseObject({
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  has_answer: z.boolean().optional(),
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
/** Its key is a rubric for a judge: no answer holds it, word by word. */
const PREFERENCE = 'single-session-preference';

/** Reads `2023/05/20 (Sat) 02:21`. @throws BenchError `bad-data` for anything else */
function readTime(text: string, place: string, field: string): number {
  const iso = text.replace(/\s*\([A-Za-z]+\)\s*/, ' ').replaceAll('/', '-');
  const instant = readInstant(iso);
  if (instant !== undefined) return Date.parse(instant.iso);
  const hint = 'LongMemEval dates every session and every question';
  throw expected(`${place}: ${field}`, 'a time such as 2023/05/20 (Sat) 02:21', shownValue(text), hint);
}

interface DatedMemory extends SourceMemory {
  readonly memoryId: string;
  readonly createdMs: number;
  readonly isEvidence: boolean;
}

/** The turns of all sessions as memories, those of a session a second apart: the file gives only their order. */
function readTurns({ question_id: userId, ...asked }: Question, place: string, notes: ConversionNotes): DatedMemory[] {
  const { haystack_dates: dates, haystack_sessions: sessions } = asked;
  if (dates.length !== sessions.length) {
    const expectation = `a date for each of ${sessions.length} sessions`;
    const hint = 'both lists have one entry for each session';
    throw expected(`${place}: haystack_dates`, expectation, String(dates.length), hint);
  }
  return sessions.flatMap((turns, session) => {
    const startMs = readTime(dates[session]!, place, `haystack_dates[${session}]`);
    return turns.flatMap((value, index): DatedMemory[] => {
      const at = `${place} haystack_sessions[${session}][${index}]`;
      const { role, content, has_answer: isEvidence = false } = checkedBy(turnSchema, value, at);
      if (content.trim() === '') {
        notes.add('turns without text were left out', at);
        return [];
      }
      const createdMs = startMs + index * 1000;
      return [
        {
          kind: 'memory',
          place: at,
          userId,
          memoryId: `${userId}/${session + 1}:${index + 1}`,
          content: spokenLine(startMs, role, content.trim()),
          createdAt: new Date(createdMs).toISOString(),
          createdMs,
          isEvidence,
        },
      ];
    });
  });
}

function* readQuestion(asked: Question, place: string, notes: ConversionNotes): Generator<SourceRecord> {
  const { question_id: id, question_type: type, question, answer, question_date: date } = asked;
  if (type === PREFERENCE) {
    notes.add(`questions of type ${PREFERENCE} were left out: their keys are rubrics for a judge, no answers`, place);
    return;
  }
  const memories = readTurns(asked, place, notes);
  for (const { createdMs: _, isEvidence: __, ...memory } of memories) yield memory;
  const dateMs = readTime(date, place, 'question_date');
  const askedMs = memories.reduce((latest, { createdMs }) => Math.max(latest, createdMs), dateMs);
  if (askedMs > dateMs) notes.add('questions dated before the end of their history are asked behind it', place);
  const isAbsent = id.endsWith('_abs');
  const evidence = isAbsent ? [] : memories.filter(({ isEvidence }) => isEvidence);
  if (!isAbsent && evidence.length === 0) notes.add('questions without a marked turn have no evidence', place);
  yield {
    kind: 'item',
    place,
    userId: id,
    itemId: id,
    query: `Today is ${dayInWords(dateMs)}. ${question}`,
    answer: isAbsent ? null : String(answer),
    evidence: evidence.map(({ memoryId }) => memoryId),
    category: isAbsent ? ABSTENTION : type,
    askedAt: new Date(askedMs).toISOString(),
  };
}

/**
 * Reads questions with histories in the format of LongMemEval, `oracle` or `s`. A question is a user of its own; each turn of
 * its history, of either speaker, is a memory with the day of its session. The day of the question is part of it, as in the
 * published prompts. Questions whose id ends with `_abs` are absent items.
 * @throws BenchError `not-found` for a missing file, `bad-data` that names question and turn
 * @see Wu et al. 2024, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory"
 */
export async function* longmemevalRecords(
  path: string,
  questions: JsonElements,
  notes: ConversionNotes,
): AsyncGenerator<SourceRecord> {
  let index = 0;
  for await (const value of questions) {
    const asked = checkedBy(questionSchema, value, `${path}: [${index++}]`);
    yield* readQuestion(asked, `${path}: ${asked.question_id}`, notes);
  }
}
