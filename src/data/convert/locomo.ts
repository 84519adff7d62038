import { z } from 'zod';
import { shownValue } from '../../base/shown-value.ts';
import { checkedBy, expected } from '../parse-record.ts';
import type { Errata } from './errata.ts';
import { readInstant, spokenLine } from './instants.ts';
import type { JsonElements } from './json-elements.ts';
import type { ConversionNotes, SourceMemory, SourceRecord } from './source-record.ts';

const sampleSchema = z.looseObject({
  sample_id: z.union([z.string(), z.number()], 'expected an id').optional(),
  conversation: z.record(z.string(), z.unknown()),
  qa: z.array(z.unknown()).default([]),
});

const turnSchema = z.looseObject({
  speaker: z.string(),
  dia_id: z.string().regex(/^D\d+:\d+$/, 'expected a number of session and turn such as D1:3'),
  text: z.string().default(''),
  blip_caption: z.string().optional(),
});

const questionSchema = z.looseObject({
  question: z.string(),
  answer: z.union([z.string(), z.number(), z.boolean()], 'expected a text or a number').nullish(),
  evidence: z.union([z.string(), z.array(z.string())], 'expected a list of ids').nullish(),
  category: z.coerce.number(),
});

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

interface Session {
  readonly number: number;
  readonly startMs: number;
  readonly turns: readonly unknown[];
}

function readSessions(
  { conversation }: z.output<typeof sampleSchema>,
  place: string,
  notes: ConversionNotes,
): Session[] {
  const sessions = Object.entries(conversation).flatMap(([key, turns]): Session[] => {
    const match = SESSION.exec(key);
    if (match === null) return [];
    const at = `${place}: conversation.${key}`;
    if (!Array.isArray(turns)) {
      throw expected(at, 'a list of turns', shownValue(turns), 'a session is a list of {speaker, dia_id, text}');
    }
    if (turns.length === 0) return [];
    const date = conversation[`${key}_date_time`];
    const instant = typeof date === 'string' ? readInstant(date) : undefined;
    if (instant === undefined) {
      throw expected(`${at}_date_time`, 'a date', shownValue(date), 'such as "1:56 pm on 8 May, 2023"');
    }
    if (!instant.zoned) notes.add('dates of sessions, which name no time zone, were taken as UTC', place);
    return [{ number: Number(match[1]), startMs: Date.parse(instant.iso), turns }];
  });
  return sessions.sort((a, b) => a.number - b.number);
}

function memoryId(userId: string, session: number | string, turn: number | string): string {
  return `${userId}/D${Number(session)}:${Number(turn)}`;
}

/** Yields a session's turns as memories, one second apart: the file gives only their order. */
function* readTurns(userId: string, session: Session, place: string, notes: ConversionNotes): Generator<SourceMemory> {
  for (const [index, value] of session.turns.entries()) {
    const at = `${place} session_${session.number}[${index}]`;
    const { speaker, dia_id: id, text, blip_caption: caption } = checkedBy(turnSchema, value, at);
    const image = caption === undefined || caption.trim() === '' ? [] : [`[image: ${caption.trim()}]`];
    const said = [...(text.trim() === '' ? [] : [text.trim()]), ...image].join(' ');
    if (said === '') {
      notes.add('turns without text and caption were left out', at);
      continue;
    }
    const [, number, turn] = /^D(\d+):(\d+)$/.exec(id)!;
    yield {
      kind: 'memory',
      place: at,
      userId,
      memoryId: memoryId(userId, number!, turn!),
      content: spokenLine(session.startMs, speaker, said),
      createdAt: new Date(session.startMs + index * 1000).toISOString(),
    };
  }
}

/** The turns that the evidence names, each once; other entries are reported and left out. */
function readEvidence(
  cited: readonly string[],
  userId: string,
  known: ReadonlySet<string>,
  tell: (what: string) => void,
): string[] {
  const named = cited.flatMap((text) => {
    const ids = Array.from(text.matchAll(TURN_IDS), ([, session, turn]) => memoryId(userId, session!, turn!));
    if (ids.length === 0 && text.trim() !== '') tell('evidence that is no id of a turn was left out');
    return ids;
  });
  return [...new Set(named)].filter((id) => {
    if (!known.has(id)) tell('evidence that names no turn of its conversation was left out');
    return known.has(id);
  });
}

/** The published answer; of an open-domain one the part before its reason, as LoCoMo's own evaluation takes it. */
function readAnswer({ answer, category }: z.output<typeof questionSchema>, at: string): string | null {
  if (category === ADVERSARIAL) return null;
  if (answer === undefined || answer === null || String(answer).trim() === '') {
    const hint = 'only adversarial questions, category 5, go without';
    throw expected(`${at}: answer`, 'a text or a number', shownValue(answer), hint);
  }
  const reasoned = category === OPEN_DOMAIN ? /^[^;]*\S[^;]*/.exec(String(answer)) : null;
  return reasoned === null ? String(answer) : reasoned[0].trim();
}

/** A question's place in the file, and the turns that its conversation has. */
interface QuestionScope extends LocomoOptions {
  readonly at: string;
  readonly userId: string;
  readonly conversation: number;
  readonly number: number;
  readonly known: ReadonlySet<string>;
}

/** Reads one question; undefined where the errata drop it. */
function readItem(value: unknown, scope: QuestionScope): SourceRecord | undefined {
  const { at, userId, conversation, number, known, notes, errata } = scope;
  const tell = (what: string): void => notes.add(what, at);
  const asked = checkedBy(questionSchema, value, at);
  const category = categories[asked.category];
  if (category === undefined) {
    const hint = '5 is adversarial: nothing answers it';
    throw expected(`${at}: category`, '1 to 5', shownValue(asked.category), hint);
  }
  const answer = readAnswer(asked, at);
  const cited = typeof asked.evidence === 'string' ? [asked.evidence] : (asked.evidence ?? []);
  const published = { text: asked.question, answer: String(asked.answer), evidence: cited };
  const correction = errata?.of(conversation, number, published);
  if (correction?.drop === true) return undefined;
  const evidence = readEvidence(correction?.evidence ?? cited, userId, known, tell);
  if (answer === null && evidence.length > 0) {
    tell('evidence of adversarial questions was left out: nothing answers them');
  }
  return {
    kind: 'item',
    place: at,
    userId,
    // By its place, so that a question has the same id whatever is dropped.
    itemId: `${userId}-q${String(number + 1).padStart(2, '0')}`,
    query: asked.question,
    answer: answer === null ? null : (correction?.answer ?? answer),
    acceptedAnswers: correction?.accepted ?? [],
    evidence: answer === null ? [] : evidence,
    category,
  };
}

/** Notes and corrections of a conversion. */
export interface LocomoOptions {
  readonly notes: ConversionNotes;
  readonly errata?: Errata | undefined;
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
  let conversation = 0;
  for await (const value of samples) {
    const sample = checkedBy(sampleSchema, value, `${path}: [${conversation}]`);
    const userId = String(sample.sample_id ?? `conversation-${conversation + 1}`);
    const place = `${path}: ${userId}`;
    const known = new Set<string>();
    for (const session of readSessions(sample, place, options.notes)) {
      for (const memory of readTurns(userId, session, place, options.notes)) {
        known.add(memory.memoryId!);
        yield memory;
      }
    }
    for (const [number, question] of sample.qa.entries()) {
      const scope = { ...options, at: `${place} qa[${number}]`, userId, conversation, number, known };
      const item = readItem(question, scope);
      if (item !== undefined) yield item;
    }
    conversation++;
  }
  const { errata, notes } = options;
  if (errata === undefined) return;
  const { entries, correctedAnswers, correctedEvidence, dropped, unmatched } = errata.counts;
  notes.add(
    `errata of ${entries} entries: ${correctedAnswers} answers and ${correctedEvidence} citations corrected, ` +
      `${dropped} questions dropped` +
      (unmatched === 0 ? '' : `; ${unmatched} entries name no question of this file, or another answer`),
    path,
  );
}
