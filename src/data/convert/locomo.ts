import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { BenchError } from '../../config/bench-error.ts';
import { unreadable } from '../file-lines.ts';
import { checkedBy, shown } from '../parse-record.ts';
import { readInstant } from './instants.ts';
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

type Sample = z.output<typeof sampleSchema>;

const ADVERSARIAL = 5;
const categories: Readonly<Record<number, string>> = {
  1: 'multi-hop',
  2: 'temporal',
  3: 'open-domain',
  4: 'single-hop',
  [ADVERSARIAL]: 'adversarial',
};

const SESSION = /^session_(\d+)$/;
/** Ids of turns: `D8:6; D9:17`, `D9:1 D4:4`, and the typing errors `D:11:26` and `D30:05`. */
const TURN_IDS = /D:?\s?(\d+):(\d+)/gi;

const dayText = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

interface Session {
  readonly number: number;
  readonly startMs: number;
  readonly turns: readonly unknown[];
}

function sessionsOf({ conversation }: Sample, place: string, notes: ConversionNotes): Session[] {
  return Object.entries(conversation)
    .flatMap(([key, turns]): Session[] => {
      const match = SESSION.exec(key);
      if (match === null) return [];
      if (!Array.isArray(turns)) {
        const message = `${place}: conversation.${key} expected a list of turns, got ${shown(turns)}`;
        throw new BenchError('bad-data', message, 'a session is a list of {speaker, dia_id, text}');
      }
      if (turns.length === 0) return [];
      const date = conversation[`${key}_date_time`];
      const instant = typeof date === 'string' ? readInstant(date) : undefined;
      if (instant === undefined) {
        const message = `${place}: conversation.${key}_date_time expected a date, got ${shown(date)}`;
        throw new BenchError('bad-data', message, 'such as "1:56 pm on 8 May, 2023"');
      }
      if (!instant.zoned) notes.add('dates of sessions, which name no time zone, were taken as UTC', place);
      return [{ number: Number(match[1]), startMs: Date.parse(instant.iso), turns }];
    })
    .sort((a, b) => a.number - b.number);
}

function memoryId(userId: string, session: number | string, turn: number | string): string {
  return `${userId}/D${Number(session)}:${Number(turn)}`;
}

/** Yields a session's turns as memories, one second apart: the file gives only their order. */
function* memoriesOf(userId: string, session: Session, place: string, notes: ConversionNotes): Generator<SourceMemory> {
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
      content: `${dayText.format(session.startMs)}, ${speaker}: ${said}`,
      createdAt: new Date(session.startMs + index * 1000).toISOString(),
    };
  }
}

/** Lists the turns that the evidence names, each once; entries that name none are reported and left out. */
function evidenceOf(
  given: readonly string[],
  userId: string,
  known: ReadonlySet<string>,
  tell: (what: string) => void,
): string[] {
  const found = given.flatMap((text) => {
    const ids = Array.from(text.matchAll(TURN_IDS), ([, session, turn]) => memoryId(userId, session!, turn!));
    if (ids.length === 0 && text.trim() !== '') tell('evidence that is no id of a turn was left out');
    return ids;
  });
  return [...new Set(found)].filter((id) => {
    if (known.has(id)) return true;
    tell('evidence that names no turn of its conversation was left out');
    return false;
  });
}

function* recordsOfSample(
  value: unknown,
  path: string,
  index: number,
  notes: ConversionNotes,
): Generator<SourceRecord> {
  const sample = checkedBy(sampleSchema, value, `${path}: [${index}]`);
  const userId = String(sample.sample_id ?? `conversation-${index + 1}`);
  const place = `${path}: ${userId}`;
  const known = new Set<string>();
  for (const session of sessionsOf(sample, place, notes)) {
    for (const memory of memoriesOf(userId, session, place, notes)) {
      known.add(memory.memoryId!);
      yield memory;
    }
  }
  for (const [number, asked] of sample.qa.entries()) {
    const at = `${place} qa[${number}]`;
    const tell = (what: string): void => notes.add(what, at);
    const { question, answer, evidence: given, category } = checkedBy(questionSchema, asked, at);
    const name = categories[category];
    if (name === undefined) {
      const message = `${at}: category expected 1 to 5, got ${shown(category)}`;
      throw new BenchError('bad-data', message, '5 is adversarial: nothing answers it');
    }
    const absent = category === ADVERSARIAL;
    if (!absent && (answer === undefined || answer === null || String(answer).trim() === '')) {
      const message = `${at}: answer expected a text or a number, got ${shown(answer)}`;
      throw new BenchError('bad-data', message, 'only adversarial questions, category 5, go without');
    }
    const evidence = evidenceOf(typeof given === 'string' ? [given] : (given ?? []), userId, known, tell);
    if (absent && evidence.length > 0) tell('evidence of adversarial questions was left out: nothing answers them');
    yield {
      kind: 'item',
      place: at,
      userId,
      query: question,
      answer: absent ? null : String(answer),
      evidence: absent ? [] : evidence,
      category: name,
    };
  }
}

/**
 * Reads a file in the format of LoCoMo: conversations of numbered sessions with dates. Each turn is a memory with the day,
 * its speaker and the captions of its images; questions of category 5 are absent items. One conversation becomes one user.
 * @throws BenchError `not-found` for a missing file, `bad-data` that names conversation, session or question
 * @see Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents"
 */
export async function* locomoRecords(path: string, notes: ConversionNotes): AsyncGenerator<SourceRecord> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (!(error instanceof TypeError)) throw unreadable(path, error);
    throw new BenchError('bad-data', `${path}: is not UTF-8`, 'save the file as UTF-8', error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `${path}: is not JSON: ${(error as Error).message.split('\n')[0]!}`;
    throw new BenchError('bad-data', message, 'a LoCoMo file is one JSON list of conversations', error);
  }
  const samples: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const [index, sample] of samples.entries()) yield* recordsOfSample(sample, path, index, notes);
}
