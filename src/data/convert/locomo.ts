import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { shownValue } from '../../base/shown-value.ts';
import { checkedBy } from '../parse-record.ts';
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

type Sample = z.output<typeof sampleSchema>;

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

function sessionsOf({ conversation }: Sample, place: string, notes: ConversionNotes): Session[] {
  return Object.entries(conversation)
    .flatMap(([key, turns]): Session[] => {
      const match = SESSION.exec(key);
      if (match === null) return [];
      if (!Array.isArray(turns)) {
        const message = `${place}: conversation.${key} expected a list of turns, got ${shownValue(turns)}`;
        throw new BenchError('bad-data', message, 'a session is a list of {speaker, dia_id, text}');
      }
      if (turns.length === 0) return [];
      const date = conversation[`${key}_date_time`];
      const instant = typeof date === 'string' ? readInstant(date) : undefined;
      if (instant === undefined) {
        const message = `${place}: conversation.${key}_date_time expected a date, got ${shownValue(date)}`;
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
      content: spokenLine(session.startMs, speaker, said),
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

type Question = z.output<typeof questionSchema>;

/** The published answer; of an open-domain one the part before its reason, as LoCoMo's own evaluation takes it. */
function answerOf({ answer, category }: Question, at: string): string | null {
  if (category === ADVERSARIAL) return null;
  if (answer === undefined || answer === null || String(answer).trim() === '') {
    const message = `${at}: answer expected a text or a number, got ${shownValue(answer)}`;
    throw new BenchError('bad-data', message, 'only adversarial questions, category 5, go without');
  }
  return category === OPEN_DOMAIN
    ? (/^[^;]*\S[^;]*/.exec(String(answer))?.[0].trim() ?? String(answer))
    : String(answer);
}

function* recordsOfSample(
  value: unknown,
  path: string,
  index: number,
  { notes, errata }: LocomoOptions,
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
  for (const [number, value] of sample.qa.entries()) {
    const at = `${place} qa[${number}]`;
    const tell = (what: string): void => notes.add(what, at);
    const asked = checkedBy(questionSchema, value, at);
    const { question, evidence: given, category } = asked;
    const name = categories[category];
    if (name === undefined) {
      const message = `${at}: category expected 1 to 5, got ${shownValue(category)}`;
      throw new BenchError('bad-data', message, '5 is adversarial: nothing answers it');
    }
    const answer = answerOf(asked, at);
    const cited = typeof given === 'string' ? [given] : (given ?? []);
    const published = { text: question, answer: String(asked.answer), evidence: cited };
    const correction = errata?.of(index, number, published);
    if (correction?.drop === true) continue;
    const evidence = evidenceOf(correction?.evidence ?? cited, userId, known, tell);
    if (answer === null && evidence.length > 0) {
      tell('evidence of adversarial questions was left out: nothing answers them');
    }
    yield {
      kind: 'item',
      place: at,
      userId,
      // By its place, so that a question keeps its id whatever is dropped.
      itemId: `${userId}-q${String(number + 1).padStart(2, '0')}`,
      query: question,
      answer: answer === null ? null : (correction?.answer ?? answer),
      acceptedAnswers: correction?.accepted ?? [],
      evidence: answer === null ? [] : evidence,
      category: name,
    };
  }
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
  let index = 0;
  for await (const sample of samples) yield* recordsOfSample(sample, path, index++, options);
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
