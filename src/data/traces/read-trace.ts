import { closeSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { Trace, TraceSegment, TraceTurn } from '../../kv/traffic/trace.ts';
import { BenchError } from '../../base/bench-error.ts';
import { openToRead } from '../../base/read-remove-rename-files.ts';
import { parseObject } from '../read-records.ts';
import { fileLines, unreadable, type FileLine } from '../stream-text-file.ts';
import { readRunTrace, type RunChoice } from './run-trace.ts';
import { z } from 'zod';
import { checkSchema } from '../check-schema.ts';
import { id as recordId, instant } from '../record-schemas.ts';

const SQLITE = 'SQLite format 3\0';

/**
 * Reads a trace: a database of runs, Mooncake's JSON Lines, or the bench's own, recognised by the beginning of the file.
 * @throws BenchError `not-found`, `bad-data` as the readers; `bad-option` for a run or an arm of a file that has none
 */
export async function readTrace(path: string, choice: RunChoice = {}): Promise<Trace> {
  if (isDatabase(path)) return sorted(readRunTrace(path, choice));
  const chosen = choice.run ?? choice.arm;
  if (chosen !== undefined) {
    const option = choice.run === undefined ? '--trace-arm' : '--trace-run';
    const message = `${option} ${JSON.stringify(chosen)}: ${path} is no database of runs`;
    throw new BenchError('bad-option', message, 'drop it, or name the database of a run by --trace');
  }
  for await (const { text, place } of fileLines(path)) {
    const first = parseObject(text, place);
    const read = 'hash_ids' in first ? readMooncakeTrace : readJsonlTrace;
    const trace = await read(basename(path), fileLines(path));
    if (trace.turns.length > 0) return sorted(trace);
    break;
  }
  throw new BenchError('bad-data', `${path}: has no turns`, 'write one JSON object per turn: see docs/traces.md');
}

/** Sorts turns by time, the first at 0. Turns of one time keep their order. */
function sorted({ turns, ...about }: Trace): Trace {
  const inOrder = turns.toSorted((a, b) => a.atMs - b.atMs);
  const start = inOrder[0]?.atMs ?? 0;
  return { ...about, turns: inOrder.map((turn) => ({ ...turn, atMs: turn.atMs - start })) };
}

function isDatabase(path: string): boolean {
  try {
    const file = openToRead(path);
    const start = Buffer.alloc(SQLITE.length);
    readSync(file, start, 0, start.length, 0);
    closeSync(file);
    return start.toString('latin1') === SQLITE;
  } catch (error) {
    throw unreadable(path, error);
  }
}

const BLOCK_TOKENS = 512;
/** The trace names no users, and its hashes compare prompts of all of them. */
const ALL_USERS = 'all';

const count = z.number().int().nonnegative();

/** Other fields are ignored. */
const requestLine = z.object({
  /** Milliseconds. */
  timestamp: z.number().nonnegative(),
  input_length: z.number().int().positive(),
  output_length: count,
  /** One for each block of 512 tokens, the last perhaps shorter; stands for all tokens up to the end of its block. */
  hash_ids: z.array(count),
});

type Request = z.output<typeof requestLine>;

/**
 * Reads traffic in the form of Mooncake's published traces: JSON Lines of requests with hashes of 512-token prefixes.
 * @throws BenchError `bad-data` naming file and line: invalid fields, or blocks of another size
 * @see Qin et al., Mooncake: A KVCache-centric Disaggregated Architecture for LLM Serving (2024), traces
 */
async function readMooncakeTrace(name: string, lines: AsyncIterable<FileLine>): Promise<Trace> {
  const requests: Request[] = [];
  for await (const { text, place } of lines) {
    const request = checkSchema(requestLine, parseObject(text, place), place);
    const { input_length: tokens, hash_ids: ids } = request;
    const blocks = Math.ceil(tokens / BLOCK_TOKENS);
    if (ids.length !== blocks) {
      const message = `${place}: hash_ids has ${ids.length} hashes, but ${tokens} tokens are ${blocks} blocks of ${BLOCK_TOKENS}`;
      const hint = "give one hash for each 512 tokens of the prompt, as Mooncake's traces do";
      throw new BenchError('bad-data', message, hint);
    }
    requests.push(request);
  }
  requests.sort((a, b) => a.timestamp - b.timestamp);
  const conversationOf = conversations();
  const segments = new Map<string, TraceSegment>();
  const turns = requests.map((request): TraceTurn => {
    const { timestamp, input_length: tokens, output_length: answerTokens, hash_ids: ids } = request;
    return {
      atMs: timestamp,
      userId: ALL_USERS,
      conversationId: conversationOf(request),
      segments: ids.map((id, index) => {
        const segment = { id: String(id), tokens: Math.min(BLOCK_TOKENS, tokens - index * BLOCK_TOKENS) };
        const known = segments.get(segment.id);
        if (known?.tokens === segment.tokens) return known;
        segments.set(segment.id, segment);
        return segment;
      }),
      queryTokens: 0,
      answerTokens,
    };
  });
  return { name, headerTokens: 0, idsOf: 'prefix', turns };
}

/**
 * Derives conversations from shared prefixes: a request continues an earlier one if it begins with the earlier one's full
 * blocks, the last of which no request had before, and is long enough to hold that answer too. All other requests begin a
 * conversation.
 */
function conversations(): (request: Request) => string {
  const seen = new Set<number>();
  /** By the last full block of a request: its conversation, and the tokens of its prompt and answer. */
  const ends = new Map<number, { readonly conversation: string; readonly tokens: number }>();
  let count = 0;
  return ({ input_length: tokens, output_length: answerTokens, hash_ids: ids }) => {
    const full = ids.slice(0, Math.floor(tokens / BLOCK_TOKENS));
    const earlier = full.findLast((id) => tokens >= (ends.get(id)?.tokens ?? Infinity));
    const conversation = earlier === undefined ? String(count++) : ends.get(earlier)!.conversation;
    const last = full.at(-1);
    if (last !== undefined && !seen.has(last)) ends.set(last, { conversation, tokens: tokens + answerTokens });
    for (const id of full) seen.add(id);
    return conversation;
  };
}

const id = z.union([recordId, z.number().transform(String)], { error: 'expected an id, a text or a number' });

/** The optional first line. */
const traceLine = z.strictObject({
  type: z.literal('trace'),
  /** Default: the name of the file. */
  name: recordId.optional(),
  /** Tokens that all prompts begin with, such as the system text. */
  headerTokens: count.default(0),
});

const turnLine = z.strictObject({
  /** Milliseconds from any origin, or ISO 8601: one of the two in a file. */
  time: z.union([z.number().nonnegative(), instant], {
    error: 'expected milliseconds, or a time such as 2026-03-01T09:00:00Z',
  }),
  user: id,
  /** Default: the turn is a conversation of its own. */
  conversation: id.optional(),
  /** In the order of the prompt. */
  memories: z.array(z.strictObject({ id, tokens: z.number().int().positive() })),
  queryTokens: count.default(0),
  answerTokens: count.default(0),
});

type Time = z.output<typeof turnLine>['time'];

/**
 * Reads traffic in the bench's own form: JSON Lines of turns, after an optional line of type `trace`.
 * @param name of the trace, unless the file gives one
 * @returns turns in the order and with the times of the file
 * @throws BenchError `bad-data` naming file and line: invalid fields, times of two kinds, a memory whose tokens change
 */
async function readJsonlTrace(name: string, lines: AsyncIterable<FileLine>): Promise<Trace> {
  let about: Omit<Trace, 'turns'> = { name, headerTokens: 0, idsOf: 'text' };
  const turns: TraceTurn[] = [];
  /** Each user's memories, one object for all turns, and the first line that names it. */
  const known = new Map<string, { readonly memory: TraceSegment; readonly place: string }>();
  let firstTime: Time | undefined;
  for await (const { text, place } of lines) {
    const value = parseObject(text, place);
    if (turns.length === 0 && 'type' in value) {
      const { name = about.name, headerTokens } = checkSchema(traceLine, value, place);
      about = { ...about, name, headerTokens };
      continue;
    }
    const { time, user, conversation, memories, ...counts } = checkSchema(turnLine, value, place);
    firstTime ??= time;
    if (typeof time !== typeof firstTime) {
      const message = `${place}: time is ${JSON.stringify(time)}, but the first turn has ${JSON.stringify(firstTime)}`;
      throw new BenchError('bad-data', message, 'write all times in milliseconds, or all in ISO 8601');
    }
    const segments = memories.map((memory) => {
      const key = JSON.stringify([user, memory.id]);
      const first = known.get(key) ?? { memory, place };
      known.set(key, first);
      if (first.memory.tokens === memory.tokens) return first.memory;
      const message = `${place}: memory ${JSON.stringify(memory.id)} has ${memory.tokens} tokens, but ${first.memory.tokens} in ${first.place}`;
      throw new BenchError('bad-data', message, 'give a memory another id when its text changes');
    });
    turns.push({
      atMs: typeof time === 'number' ? time : Date.parse(time),
      userId: user,
      conversationId: conversation === undefined ? `turn ${turns.length + 1}` : `${user} ${conversation}`,
      segments,
      ...counts,
    });
  }
  return { ...about, turns };
}
