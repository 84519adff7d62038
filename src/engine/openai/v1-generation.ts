import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions, Generation, GenerationLimits, Retry } from '../engine-session.ts';
import { decodeTokens } from '../generated-text.ts';
import { type TokenId, UNKNOWN_TOKEN } from '../token-id.ts';
import { AnswerStream } from './answer-stream.ts';
import type { Counted, PromptSender, Sent } from './prompt-sender.ts';

/** How a server tells of the tokens of its answers. */
export interface AnswerTelling {
  /** Ids beside the text, among log-probabilities, or not at all. */
  readonly ids: 'beside' | 'listed' | 'never';
  /** True of a server that tells reused tokens with every token: an answer may be left early. */
  readonly reuseAtOnce: boolean;
}

/** An answer, and what it counts; null where it was aborted before the server said so. */
export interface Generated {
  readonly generation: Generation;
  readonly counted: Counted | null;
  /** Tokens that the server sampled, an end token and those behind the end of the text included; null where it does not say. */
  readonly sampled: number | null;
}

/**
 * Generates behind a sequence. Ids that the server did not tell are asked for again, behind all clocks: by the same answer in
 * one piece where that lists them, else by tokenising the text.
 * @param start of the call, on the clock of `performance.now()`
 */
export async function generateBehind(
  sender: PromptSender,
  sent: Sent,
  limits: GenerationLimits,
  telling: AnswerTelling,
  { signal, start }: CallOptions & { readonly start: number },
): Promise<Generated> {
  const retries: Retry[] = [];
  const asked = askedOf(sender, limits, telling);
  const events = sender.stream(sent, asked, { signal, onRetry: (retry) => retries.push(retry) });
  const stream = new AnswerStream(events, sender.server.tokenizer.special.endTokens);
  let counted: Counted | null;
  let generation: Generation;
  try {
    const { firstTokenAt, ...decoded } = await decodeTokens(
      () => stream.next(),
      limits,
      (tokens) => stream.text.of(tokens),
      signal,
    );
    const decodeMs = performance.now() - firstTokenAt;
    counted = await settled(sender, sent, stream, decoded.stop);
    generation = { ...decoded, firstTokenMs: firstTokenAt - start, decodeMs, retries };
  } catch (error) {
    sender.lose();
    throw error;
  } finally {
    await events.return();
  }
  const { usage, timings } = stream.end;
  const sampled = usage?.completion_tokens ?? timings?.predicted_n ?? null;
  if (!generation.tokens.includes(UNKNOWN_TOKEN)) return { generation, counted, sampled };
  const text = stream.text.of(generation.tokens);
  const tokens =
    telling.ids === 'listed'
      ? agreed(generation.tokens, await sender.tokensAgain(sent, asked, generation.tokens.length, {}))
      : await tokensOf(text, sender, generation.tokens);
  return { generation: { ...generation, tokens }, counted, sampled };
}

function askedOf(
  { server }: PromptSender,
  { maxTokens, temperature = 0, seed = 0, stopTexts = [] }: GenerationLimits,
  { ids, reuseAtOnce }: AnswerTelling,
): object {
  return {
    ...{ max_tokens: maxTokens, temperature, seed, stop_token_ids: server.tokenizer.special.endTokens },
    ...(ids === 'beside' ? { return_token_ids: true } : {}),
    ...(ids === 'listed' ? { logprobs: 1 } : {}),
    // Such a server is not left early: it says what it reused in its last event alone.
    ...(reuseAtOnce || stopTexts.length === 0 ? {} : { stop: stopTexts, include_stop_str_in_output: true }),
  };
}

/** Counts an answer once the server has said what it reused. @throws BenchError `unreachable` for one that was cut off */
async function settled(
  sender: PromptSender,
  sent: Sent,
  stream: AnswerStream,
  stop: Generation['stop'],
): Promise<Counted | null> {
  const isTold = (): boolean => stream.end.timings?.cache_n !== undefined;
  if (stop === 'aborted') {
    if (isTold()) return sender.count(sent, stream.end);
    sender.lose();
    return null;
  }
  const isLeft = (stop === 'stop-text' || stop === 'sentence') && isTold();
  if (!isLeft) {
    await stream.finish();
    if (!stream.end.isWhole) throw sender.server.connection.errors.unreachable('the answer was cut off');
  }
  return sender.count(sent, stream.end);
}

/** Ids that were told must be those of the second answer. */
function agreed(known: readonly TokenId[], again: readonly TokenId[]): readonly TokenId[] {
  const agree = known.every((id, index) => id === UNKNOWN_TOKEN || id === again[index]);
  return agree && again.length >= known.length ? again.slice(0, known.length) : known;
}

/** The ids of a text; unknown ones where it may not be tokenised. */
async function tokensOf(
  text: string,
  { server }: PromptSender,
  unknown: readonly TokenId[],
): Promise<readonly TokenId[]> {
  try {
    const [ids = []] = await server.tokenizer.tokenize([{ text, as: 'text' }], {});
    return ids;
  } catch (error) {
    // An answer may say what would be a control token.
    if (error instanceof BenchError && error.code === 'special-token') return unknown;
    throw error;
  }
}
