import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BenchError, formatValue } from '../../base/bench-error.ts';
import { type JsonElement, type JsonElements, jsonElements } from '../stream-json-list.ts';
import { checkSchema, mismatch } from '../check-schema.ts';
import type { ConversionNotes, SourceMemory, SourceRecord } from './source-record.ts';
import { DAY_MS, datedTurn, UNDATED_START_MS } from './dates.ts';

const SHAPE = 'a BEAM file is a list of {conversation_id, chat, probing_questions}; or name the folder of the chats';

const chatSchema = z.looseObject({
  conversation_id: z.union([z.string(), z.number()], 'expected an id').transform(String),
  chat: z.array(z.unknown()).min(1, 'expected the batches of the chat'),
  probing_questions: z.custom<Readonly<Record<string, readonly unknown[]>>>(
    (value) => z.record(z.string(), z.array(z.unknown())).safeParse(value).success,
    'expected lists of questions by kind (as JSON; Hugging Face has a text of Python, which ast.literal_eval reads)',
  ),
});

const messageSchema = z.looseObject({
  role: z.enum(['user', 'assistant']),
  id: z.number().int(),
  content: z.string(),
  time_anchor: z.string().nullish(),
});

const ids = z.array(z.number().int());
const questionSchema = z.looseObject({
  question: z.string().regex(/\S/, 'expected a question'),
  source_chat_ids: z
    .union(
      [ids, z.record(z.string(), ids).transform((named) => Object.values(named).flat())],
      'expected ids of messages',
    )
    .nullish(),
  rubric: z.array(z.string()).min(1, 'expected the points of a right answer'),
});

const ABSTENTION = 'abstention';
/** Kinds with short answers, where their rubric is one point. */
const shortKinds = ['information_extraction', 'knowledge_update', 'multi_session_reasoning', 'temporal_reasoning'];
/** The gold answer has another name in each kind. */
const goldFields = ['answer', 'ideal_response', 'ideal_answer', 'ideal_summary', 'expected_compliance'];

/** Files of the chats of a folder and of their questions: `1/chat.json` as published, or `1-chat.json` and `1-questions.json`. */
export function beamFiles(folder: string) {
  const found = readdirSync(folder).flatMap((name) => {
    const [, id] = /^(.+)-chat\.json$/.exec(name) ?? [];
    const own =
      id === undefined
        ? [name, 'chat.json', 'probing_questions/probing_questions.json']
        : ['', name, `${id}-questions.json`];
    const [chat, questions] = [join(folder, own[0]!, own[1]!), join(folder, own[0]!, own[2]!)];
    return existsSync(chat) && existsSync(questions) ? [{ id: id ?? name, chat, questions }] : [];
  });
  if (found.length === 0) throw new BenchError('bad-data', `${folder}: has no chats with questions`, SHAPE);
  return found.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
}

/** The chats of one JSON file, or of a folder; its hash is that of the bytes of all its files in order. */
export function beamElements(path: string): JsonElements {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return jsonElements(path, SHAPE);
  const hash = createHash('sha256');
  async function* chats(): AsyncGenerator<JsonElement> {
    for (const { id, chat, questions } of beamFiles(path)) {
      const value = { conversation_id: id, chat: read(chat), probing_questions: read(questions) };
      yield await Promise.resolve({ place: `${path}: ${id}`, value });
    }
  }
  function read(file: string): unknown {
    const bytes = readFileSync(file);
    hash.update(bytes);
    try {
      return JSON.parse(bytes.toString()) as unknown;
    } catch (error) {
      throw new BenchError('bad-data', `${file}: is not JSON: ${(error as Error).message}`, SHAPE, error);
    }
  }
  return { [Symbol.asyncIterator]: chats, sha256: () => hash.digest('hex') };
}

/** Finds the messages of a chat in their order, in batches, turns and plans of any depth: the tiers differ in that. */
function* messages(value: unknown, at: string): Generator<[at: string, message: z.output<typeof messageSchema>]> {
  if (Array.isArray(value)) for (const [index, one] of value.entries()) yield* messages(one, `${at}[${index}]`);
  else if (typeof value !== 'object' || value === null) throw mismatch(at, 'messages', formatValue(value), SHAPE);
  else if ('role' in value || 'content' in value) yield [at, checkSchema(messageSchema, value, at)];
  else for (const [key, one] of Object.entries(value)) if (Array.isArray(one)) yield* messages(one, `${at}.${key}`);
}

function* readMessages(chat: unknown, userId: string, place: string, notes: ConversionNotes): Generator<SourceMemory> {
  let [anchorMs, lastMs]: [number | undefined, number] = [undefined, UNDATED_START_MS];
  for (const [at, { role, id, content, time_anchor: anchor }] of messages(chat, `${place}: chat`)) {
    if (typeof anchor === 'string' && anchor.trim() !== '') {
      anchorMs = Date.parse(`${anchor.replaceAll('-', ' ')} UTC`);
      if (Number.isNaN(anchorMs))
        throw mismatch(`${at}: time_anchor`, 'a day', formatValue(anchor), 'such as March-15-2024');
    }
    // The plan of the chat's writer, such as `->-> 1,3`.
    const said = content.replace(/\s*->->[^\n]*$/, '').trim();
    if (said === '') {
      notes.add('messages without text were left out', at);
      continue;
    }
    lastMs = Math.max(lastMs + 1000, anchorMs ?? 0);
    const text = anchorMs === undefined ? `${role}: ${said}` : datedTurn(anchorMs, role, said);
    const createdAt = new Date(lastMs).toISOString();
    yield { kind: 'memory', place: at, userId, memoryId: `${userId}/${id}`, content: text, createdAt };
  }
}

function readGold(value: Readonly<Record<string, unknown>>, at: string): string {
  const field = goldFields.find((name) => name in value);
  const gold = value[field ?? ''];
  if (typeof gold === 'string' && gold.trim() !== '') return gold;
  throw mismatch(`${at}: ${field ?? goldFields.join(', ')}`, 'a gold answer', formatValue(gold), SHAPE);
}

/** The answer of a question, and how it is scored: kinds with short answers by golds, the others by the points of their rubric. */
function scoring(kind: string, value: z.output<typeof questionSchema>, at: string) {
  if (kind === ABSTENTION) return { answer: null };
  const points = value.rubric.map((point) => point.replace(/^LLM response should \w+:\s*/i, '').trim());
  const isShort = shortKinds.includes(kind) && points.length === 1;
  return { answer: readGold(value, at), ...(isShort ? { acceptedAnswers: points } : { nuggets: points }) };
}

/**
 * Reads chats in the format of BEAM. A chat becomes a user, each message a memory with its day and speaker, and its probing
 * questions items. Kinds with short answers have golds, the others the points of their rubric (`nuggets`); abstention is absent.
 * @throws BenchError `not-found` for a missing file, `bad-data` that names chat and message or question
 * @see Tavakoli et al. 2025, "Beyond a Million Tokens", arXiv 2510.27246
 */
export async function* beamRecords(chats: JsonElements, notes: ConversionNotes): AsyncGenerator<SourceRecord> {
  for await (const { place, value } of chats) {
    const { conversation_id: id, chat, probing_questions: byKind } = checkSchema(chatSchema, value, place);
    const userId = `chat-${id}`;
    const memoryIds = new Set<string>();
    let latest = UNDATED_START_MS;
    for (const memory of readMessages(chat, userId, place, notes)) {
      memoryIds.add(memory.memoryId!);
      latest = Date.parse(memory.createdAt!);
      yield memory;
    }
    let number = 0;
    const kinds = Object.entries(byKind);
    const isShort = ([kind]: (typeof kinds)[number]): boolean => shortKinds.includes(kind);
    // Kinds with golds first, so that `--limit` begins with them.
    for (const [kind, questions] of [...kinds.filter(isShort), ...kinds.filter((one) => !isShort(one))]) {
      for (const [index, question] of questions.entries()) {
        const at = `${place}: probing_questions.${kind}[${index}]`;
        const asked = checkSchema(questionSchema, question, at);
        const named = [...new Set((asked.source_chat_ids ?? []).map((messageId) => `${userId}/${messageId}`))];
        const found = named.filter((memoryId) => memoryIds.has(memoryId));
        if (found.length < named.length)
          notes.add('source_chat_ids that name no message of the chat were left out', at);
        yield {
          kind: 'item',
          place: at,
          userId,
          itemId: `${userId}-q${String(++number).padStart(2, '0')}`,
          query: asked.question,
          evidence: kind === ABSTENTION ? [] : found,
          category: kind,
          ...scoring(kind, asked, at),
          askedAt: new Date(latest + DAY_MS).toISOString(),
        };
      }
    }
  }
}
