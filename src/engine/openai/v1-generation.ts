import { BenchError } from '../../base/bench-error.ts';
import type { GenerateOptions } from '../base-session.ts';
import type { Generation, GenerationLimits, Retry } from '../engine-session.ts';
import { type AnswerBounds, decodeStream, fillUnknown, TokenStream } from '../http/token-stream.ts';
import { type TokenIds, UNKNOWN_TOKEN } from '../token-id.ts';
import type { Choice, Completion, Counted, PromptSender, Sent } from './prompt-sender.ts';

/** How a server reports the tokens of its answers. */
export interface AnswerTelling {
  /** Ids beside the text, among log-probabilities, or not at all. */
  readonly ids: 'beside' | 'listed' | 'never';
  /** The server reports reused tokens with every token: the client may leave an answer early. */
  readonly reuseAtOnce: boolean;
}

/** An answer, and its counts. */
interface Generated {
  readonly generation: Generation;
  readonly counted: Counted | null;
  /** Tokens that the server sampled, with an end token and those behind the end of the text; null where unknown. */
  readonly sampled: number | null;
}

interface GenerateRequest {
  readonly sender: PromptSender;
  readonly sent: Sent;
  readonly telling: AnswerTelling;
}

/**
 * Generates behind a sequence. Ids that the server did not report are looked up outside the measured time: by the same
 * answer in one piece where that lists them, else by tokenising the text.
 */
export async function generateBehind(
  { sender, sent, telling }: GenerateRequest,
  limits: GenerationLimits,
  options: GenerateOptions,
): Promise<Generated> {
  const retries: Retry[] = [];
  const { endTokens } = sender.server.tokenizer.special;
  const fields = requestFields(limits, telling, endTokens);
  const events = sender.stream(sent, fields, { signal: options.signal, onRetry: (retry) => retries.push(retry) });
  const stream = new AnswerStream(events, endTokens, {
    maxTokens: limits.maxTokens,
    errors: sender.server.connection.errors,
  });
  let counted: Counted | null;
  let generation: Generation;
  try {
    generation = await decodeStream(stream, limits, retries, options);
    counted = await settle({ sender, sent }, stream, generation.stop);
  } catch (error) {
    sender.lose();
    throw error;
  } finally {
    await events.return();
  }
  const { usage, timings } = stream;
  const sampled = usage?.completion_tokens ?? timings?.predicted_n ?? null;
  const { tokens: known } = generation;
  if (!known.includes(UNKNOWN_TOKEN)) return { generation, counted, sampled };
  if (telling.ids === 'listed') {
    const again = await sender.tokensAgain(sent, { ...fields, n_predict: known.length });
    return { generation: { ...generation, tokens: fillUnknown(known, again) }, counted, sampled };
  }
  const request = [{ text: stream.textOf(known), as: 'text' }] as const;
  const [tokens = []] = await sender.server.tokenizer.tokenize(request).catch((error: unknown) => {
    // An answer may spell a control token.
    if (error instanceof BenchError && error.code === 'special-token') return [known];
    throw error;
  });
  return { generation: { ...generation, tokens }, counted, sampled };
}

function requestFields(
  { maxTokens, temperature = 0, seed = 0, stopTexts = [] }: GenerationLimits,
  { ids, reuseAtOnce }: AnswerTelling,
  endTokens: TokenIds,
): object {
  return {
    max_tokens: maxTokens,
    temperature,
    seed,
    stop_token_ids: endTokens,
    ...(ids === 'beside' ? { return_token_ids: true } : {}),
    ...(ids === 'listed' ? { logprobs: 1 } : {}),
    // Answers of such a server are read to their end: only the last event reports the reused tokens.
    ...(reuseAtOnce || stopTexts.length === 0 ? {} : { stop: stopTexts, include_stop_str_in_output: true }),
  };
}

/** Counts an answer once the server has reported what it reused. @throws BenchError `unreachable` if it was cut off */
async function settle(
  { sender, sent }: Omit<GenerateRequest, 'telling'>,
  stream: AnswerStream,
  stop: Generation['stop'],
): Promise<Counted | null> {
  const isReported = stream.timings?.cache_n !== undefined;
  if (stop === 'aborted' && !isReported) {
    sender.lose();
    return null;
  }
  const isLeftEarly = stop === 'aborted' || ((stop === 'stop-text' || stop === 'sentence') && isReported);
  if (!isLeftEarly) {
    await stream.finish();
    if (!stream.isWhole) throw sender.server.connection.errors.unreachable('the answer was cut off');
  }
  return sender.count(sent, stream);
}

/** The tokens of a streamed completion, and what the server reported so far. */
export class AnswerStream extends TokenStream<Completion> {
  usage: Completion['usage'];
  timings: Completion['timings'];
  tellsIds = false;
  readonly #endTokens: TokenIds;
  #reason: Choice['finish_reason'];
  #isStopText = false;

  /** @param endTokens tokens at which the server ends an answer */
  constructor(events: AsyncGenerator<Completion, void>, endTokens: TokenIds, bounds: AnswerBounds) {
    super(events, bounds);
    this.#endTokens = endTokens;
  }

  get isWhole(): boolean {
    return this.isOver && this.#reason !== undefined;
  }

  protected read({ usage, timings, choices: [choice] }: Completion): void {
    this.usage = usage ?? this.usage;
    this.timings = timings ?? this.timings;
    if (choice === undefined) return;
    this.#add(choice, timings?.predicted_n);
    if (choice.finish_reason === null || choice.finish_reason === undefined) return;
    this.#reason = choice.finish_reason;
    this.#isStopText = typeof (choice.stop_reason ?? choice.matched_stop) === 'string';
  }

  /** Adds tokens that the server counted and did not send, and removes the end token. */
  protected end(): void {
    this.isOver = true;
    this.pad(this.usage?.completion_tokens ?? 0);
    if (this.#reason === 'stop' && !this.#isStopText && this.waiting.at(-1)?.content === '') this.waiting.pop();
  }

  /** @param predicted tokens so far: those that the server did not send stand before these */
  #add({ text, token_ids: sent, logprobs }: Choice, predicted = 0): void {
    const known = sent ?? logprobs?.content?.map(({ id }) => id);
    this.tellsIds ||= (known ?? []).length > 0;
    const ids = known ?? (text === '' ? [] : [UNKNOWN_TOKEN]);
    this.pad(predicted - ids.length);
    if (ids.length === 0 && text !== '') this.extend(text);
    // The text of several tokens belongs to the last one that has any.
    const last = Math.max(
      ids.findLastIndex((id) => !this.#endTokens.includes(id)),
      0,
    );
    ids.forEach((id, index) => this.waiting.push({ id, content: index === last ? text : '' }));
  }
}
