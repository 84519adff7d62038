import { z } from 'zod';
import type { Trace, TraceSegment, TraceTurn } from '../../kv/traffic/trace.ts';
import { BenchError } from '../../base/bench-error.ts';
import { checkSchema } from '../check-schema.ts';
import { parseObject, type Placed } from '../parse-record.ts';
import { id as recordId, instant } from '../record-schemas.ts';
import type { FileLine } from '../stream-text-file.ts';

const tokens = z.number().int().nonnegative();
const id = z.union([recordId, z.number().transform(String)], { error: 'expected an id, a text or a number' });

/** The optional first line. */
const traceLine = z.strictObject({
  type: z.literal('trace'),
  /** Default: the name of the file. */
  name: recordId.optional(),
  /** Tokens that all prompts begin with, such as the system text. */
  headerTokens: tokens.default(0),
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
  queryTokens: tokens.default(0),
  answerTokens: tokens.default(0),
});

type Time = z.output<typeof turnLine>['time'];

/**
 * Reads traffic in the bench's own form: JSON Lines of turns, after an optional line of type `trace`.
 * @param path name of the file in messages @param name of the trace, unless the file gives one
 * @returns turns in the order and with the times of the file
 * @throws BenchError `bad-data` naming file and line: invalid fields, times of two kinds, a memory whose tokens change
 */
export async function readJsonlTrace(path: string, name: string, lines: AsyncIterable<FileLine>): Promise<Trace> {
  let about: Omit<Trace, 'turns'> = { name, headerTokens: 0, idsOf: 'text' };
  const turns: TraceTurn[] = [];
  const segments = new Map<string, Placed<TraceSegment>>();
  let firstTime: Time | undefined;
  for await (const { number, text } of lines) {
    const place = `${path}:${number}`;
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
    turns.push({
      atMs: typeof time === 'number' ? time : Date.parse(time),
      userId: user,
      conversationId: conversation === undefined ? `line ${number}` : `${user} ${conversation}`,
      segments: memories.map((memory) => knownSegment(segments, user, { record: memory, place })),
      ...counts,
    });
  }
  return { ...about, turns };
}

/** The segment of a user's memory, one object for all turns. @throws BenchError `bad-data` if its tokens change */
function knownSegment(
  segments: Map<string, Placed<TraceSegment>>,
  user: string,
  { record, place }: Placed<TraceSegment>,
): TraceSegment {
  const key = JSON.stringify([user, record.id]);
  const known = segments.get(key);
  if (known === undefined) segments.set(key, { record, place });
  else if (known.record.tokens !== record.tokens) {
    const message = `${place}: memory ${JSON.stringify(record.id)} has ${record.tokens} tokens, but ${known.record.tokens} in ${known.place}`;
    throw new BenchError('bad-data', message, 'give a memory another id when its text changes');
  }
  return known?.record ?? record;
}
