import { z } from 'zod';
import type { Trace, TraceSegment, TraceTurn } from '../../kv/traffic/trace.ts';
import { BenchError } from '../../base/bench-error.ts';
import { checkSchema } from '../check-schema.ts';
import { parseObject } from '../parse-record.ts';
import type { FileLine } from '../stream-text-file.ts';

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
  /** One for each 512 tokens of the prompt, the last block perhaps shorter; it stands for all tokens up to the block's end. */
  hash_ids: z.array(count),
});

type Request = z.output<typeof requestLine>;

/**
 * Reads traffic in the form of Mooncake's published traces: JSON Lines of requests with hashes of 512-token prefixes.
 * @throws BenchError `bad-data` naming file and line: invalid fields, or blocks of another size
 * @see Qin et al., Mooncake: A KVCache-centric Disaggregated Architecture for LLM Serving (2024), traces
 */
export async function readMooncakeTrace(path: string, name: string, lines: AsyncIterable<FileLine>): Promise<Trace> {
  const requests: Request[] = [];
  for await (const { number, text } of lines) {
    const place = `${path}:${number}`;
    const request = checkSchema(requestLine, parseObject(text, place), place);
    const { input_length: tokens, hash_ids: ids } = request;
    const blocks = Math.ceil(tokens / BLOCK_TOKENS);
    if (ids.length !== blocks) {
      const message = `${place}: hash_ids has ${ids.length} hashes, but ${tokens} tokens are ${blocks} blocks of ${BLOCK_TOKENS}`;
      throw new BenchError(
        'bad-data',
        message,
        "give one hash for each 512 tokens of the prompt, as Mooncake's traces do",
      );
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
 * Derives conversations from shared prefixes: a request goes on with an earlier one if it begins with the earlier one's full blocks,
 * the last of which no request had before, and is long enough to hold that answer too. All other requests begin a conversation.
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
