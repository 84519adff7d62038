import { z } from 'zod';
import { formatValue } from '../../base/bench-error.ts';
import type { LocomoErrata } from './locomo-errata.ts';
import { readInstant, datedTurn } from './dates.ts';
import type { JsonElements } from '../stream-json-list.ts';
import type { ConversionNotes, SourceItem, SourceMemory, SourceRecord } from './source-record.ts';
import { checkSchema, mismatch } from '../check-schema.ts';

const sampleSchema = z.looseObject({
  sample_id: z.union([z.string(), z.number()], 'expected an id').optional(),
  conversation: z.record(z.string(), z.unknown()),
  qa: z.array(z.unknown()).default([]),
});

const turnSchema = z.looseObject({
  speaker: z.string(),
  dia_id: z.string().regex(/^D\d+:\d+$/, 'expected a number of session and turn such as D1:3'),
  text: z.string().default(''),
  blip_caption: z.string().default(''),
});

const questionSchema = z.looseObject({
  question: z.string(),
  answer: z.union([z.string(), z.number(), z.boolean()], 'expected a text or a number').nullish(),
  evidence: z.union([z.string(), z.array(z.string())], 'expected a list of ids').nullish(),
  category: z.coerce.number(),
});

type Question = z.output<typeof questionSchema>;

const OPEN_DOMAIN = 3;
const ADVERSARIAL = 5;
const categories: Readonly<Record<number, string>> = {
  1: 'multi-hop',
  2: 'temporal',
  [OPEN_DOMAIN]: 'open-domain',
  4: 'single-hop',
  [ADVERSARIAL]: 'adversarial',
};

const SESSION = /^session_(\d+)$/;
/** Ids of turns: `D8:6; D9:17`, `D9:1 D4:4`, and the typing errors `D:11:26` and `D30:05`. */
const TURN_IDS = /D:?\s?(\d+):(\d+)/gi;

interface Conversation extends LocomoOptions {
  readonly userId: string;
  readonly place: string;
  /** Counted from 0. */
  readonly number: number;
  /** Ids of the turns read so far. */
  readonly memoryIds: Set<string>;
}

interface LocomoOptions {
  readonly notes: ConversionNotes;
  readonly errata?: LocomoErrata | undefined;
}

/** Sessions by number, without those that have no turns. */
function readSessions(sessions: Readonly<Record<string, unknown>>, { place, notes }: Conversation) {
  const read = Object.entries(sessions).flatMap(([key, turns]) => {
    const number = SESSION.exec(key)?.[1];
    if (number === undefined) return [];
    const at = `${place}: conversation.${key}`;
    if (!Array.isArray(turns)) {
      throw mismatch(at, 'a list of turns', formatValue(turns), 'a session is a list of {speaker, dia_id, text}');
    }
    if (turns.length === 0) return [];
    const date = sessions[`${key}_date_time`];
    const instant = typeof date === 'string' ? readInstant(date) : undefined;
    if (instant === undefined) {
      throw mismatch(`${at}_date_time`, 'a date', formatValue(date), 'such as "1:56 pm on 8 May, 2023"');
    }
    if (!instant.zoned) notes.add('dates of sessions, which name no time zone, were taken as UTC', place);
    return { number: Number(number), startMs: Date.parse(instant.iso), turns: turns as readonly unknown[] };
  });
  return read.sort((a, b) => a.number - b.number);
}

function turnIds(userId: string, text: string): string[] {
  return Array.from(text.matchAll(TURN_IDS), ([, session, turn]) => `${userId}/D${Number(session)}:${Number(turn)}`);
}

/** Yields a session's turns as memories, one second apart: the file gives only their order. */
function* readTurns(
  { number, startMs, turns }: ReturnType<typeof readSessions>[number],
  { userId, place, notes, memoryIds }: Conversation,
): Generator<SourceMemory> {
  for (const [index, value] of turns.entries()) {
    const at = `${place} session_${number}[${index}]`;
    const { speaker, dia_id: id, text, blip_caption: caption } = checkSchema(turnSchema, value, at);
    const image = caption.trim() === '' ? '' : `[image: ${caption.trim()}]`;
    const said = `${text.trim()} ${image}`.trim();
    if (said === '') {
      notes.add('turns without text and caption were left out', at);
      continue;
    }
    const memoryId = turnIds(userId, id)[0]!;
    memoryIds.add(memoryId);
    const createdAt = new Date(startMs + index * 1000).toISOString();
    yield { kind: 'memory', place: at, userId, memoryId, content: datedTurn(startMs, speaker, said), createdAt };
  }
}

/** The published answer; for open-domain questions without its reason, as in LoCoMo's own evaluation. */
function readAnswer({ answer, category }: Pick<Question, 'answer' | 'category'>, at: string): string | null {
  if (category === ADVERSARIAL) return null;
  const text = String(answer ?? '');
  if (text.trim() === '') {
    const hint = 'only adversarial questions, category 5, have none';
    throw mismatch(`${at}: answer`, 'a text or a number', formatValue(answer), hint);
  }
  const withoutReason = category === OPEN_DOMAIN ? /^[^;]*\S[^;]*/.exec(text) : null;
  return withoutReason === null ? text : withoutReason[0].trim();
}

/** The turns that citations name, each once; other citations are noted and left out. */
function readEvidence(cited: readonly string[], { userId, memoryIds, notes }: Conversation, place: string): string[] {
  const named = cited.flatMap((text) => {
    const ids = turnIds(userId, text);
    if (ids.length === 0 && text.trim() !== '') notes.add('evidence that is not the id of a turn was left out', place);
    return ids;
  });
  return [...new Set(named)].filter((id) => {
    if (!memoryIds.has(id)) notes.add('evidence that names no turn of its conversation was left out', place);
    return memoryIds.has(id);
  });
}

/** Reads one question; undefined if the errata drop it. */
function readItem(value: unknown, number: number, conversation: Conversation): SourceItem | undefined {
  const { userId, notes, errata } = conversation;
  const place = `${conversation.place} qa[${number}]`;
  const { question: query, evidence: citations, ...key } = checkSchema(questionSchema, value, place);
  const category = categories[key.category];
  if (category === undefined) {
    const hint = '5 is adversarial: nothing answers it';
    throw mismatch(`${place}: category`, '1 to 5', formatValue(key.category), hint);
  }
  const answer = readAnswer(key, place);
  const cited = [citations ?? []].flat();
  const published = { text: query, answer: String(key.answer), evidence: cited };
  const correction = errata?.take(conversation.number, number, published) ?? { accepted: [], evidence: cited };
  if (correction === 'drop') return undefined;
  const evidence = readEvidence(correction.evidence, conversation, place);
  const isAbsent = answer === null;
  if (isAbsent && evidence.length > 0) {
    notes.add('evidence of adversarial questions was left out: nothing answers them', place);
  }
  return {
    kind: 'item',
    place,
    userId,
    // Numbered by position in the file, so that dropped questions do not change other ids.
    itemId: `${userId}-q${String(number + 1).padStart(2, '0')}`,
    query,
    answer: isAbsent ? null : (correction.answer ?? answer),
    acceptedAnswers: [...correction.accepted],
    evidence: isAbsent ? [] : evidence,
    category,
  };
}

/**
 * Reads conversations in the format of LoCoMo: numbered sessions with dates. Each turn is a memory with the day, its
 * speaker and the captions of its images; questions of category 5 are absent items. One conversation becomes one user.
 * @throws BenchError `not-found` for a missing file, `bad-data` that names conversation, session or question
 * @see Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents"
 */
export async function* locomoRecords(
  path: string,
  samples: JsonElements,
  options: LocomoOptions,
): AsyncGenerator<SourceRecord> {
  let number = 0;
  for await (const { place: at, value } of samples) {
    const { sample_id: id, conversation, qa } = checkSchema(sampleSchema, value, at);
    const userId = String(id ?? `conversation-${number + 1}`);
    const place = `${path}: ${userId}`;
    const about: Conversation = { ...options, userId, place, number: number++, memoryIds: new Set() };
    for (const session of readSessions(conversation, about)) yield* readTurns(session, about);
    for (const [index, question] of qa.entries()) {
      const item = readItem(question, index, about);
      if (item !== undefined) yield item;
    }
  }
  if (options.errata !== undefined) options.notes.add(options.errata.summary(), path);
}
