import { BenchError } from '../../base/bench-error.ts';
import type { GenerateOptions, UntimedGeneration } from '../base-session.ts';
import type { Generation, GenerationLimits, Retry } from '../engine-session.ts';
import { type AnswerBounds, fillUnknown, TokenStream } from '../http/token-stream.ts';
import { type TokenIds, UNKNOWN_TOKEN } from '../token-id.ts';
import type { Choice, Completion, Counts, PromptSender, Prompt } from './prompt-sender.ts';

/** How a server reports token ids and reuse in its answers. */
export interface Reporting {
  /** Ids come next to the text, with log-probabilities, or never. */
  readonly ids: 'beside' | 'listed' | 'never';
  /** Reused tokens are reported with every event, so the client may stop reading early. */
  readonly reportsReuseEarly: boolean;
}

interface GenerateRequest {
  readonly sender: PromptSender;
  readonly prompt: Prompt;
  readonly reporting: Reporting;
}

/**
 * Generates after a sequence. Looks up ids that the server did not report, which counts as decoding: by generating again
 * without streaming if that lists them, else by tokenising the text.
 */
export async function generateBehind(
  { sender, prompt, reporting }: GenerateRequest,
  limits: GenerationLimits,
  options: GenerateOptions,
) {
  const retries: Retry[] = [];
  const { endTokens } = sender.server.tokenizer.special;
  const fields = requestFields(limits, reporting, endTokens);
  const events = sender.stream(prompt, fields, { signal: options.signal, onRetry: (retry) => retries.push(retry) });
  const stream = new AnswerStream(events, endTokens, {
    maxTokens: limits.maxTokens,
    errors: sender.server.connection.errors,
  });
  let counts: Counts | null;
  let generation: UntimedGeneration;
  try {
    generation = { ...(await stream.decode(limits, options)), retries };
    counts = await settle({ sender, prompt }, stream, generation.stop);
  } catch (error) {
    sender.markLost();
    throw error;
  } finally {
    await events.return();
  }
  const { usage, timings } = stream;
  // All tokens sampled by the server, including the end token and tokens after the cut; null if unknown.
  const sampled = usage?.completion_tokens ?? timings?.predicted_n ?? null;
  const { tokens: known } = generation;
  if (!known.includes(UNKNOWN_TOKEN)) return { generation, counts, sampled };
  if (reporting.ids === 'listed') {
    const again = await sender.tokensAgain(prompt, { ...fields, n_predict: known.length });
    return { generation: { ...generation, tokens: fillUnknown(known, again) }, counts, sampled };
  }
  const request = [{ text: stream.detokenize(known), as: 'text' }] as const;
  const [tokens = []] = await sender.server.tokenizer.tokenize(request).catch((error: unknown) => {
    // The answer's text contains the name of a control token.
    if (error instanceof BenchError && error.code === 'special-token') return [known];
    throw error;
  });
  return { generation: { ...generation, tokens }, counts, sampled };
}

function requestFields(
  { maxTokens, temperature = 0, seed = 0, stopTexts = [] }: GenerationLimits,
  { ids, reportsReuseEarly }: Reporting,
  endTokens: TokenIds,
): object {
  return {
    max_tokens: maxTokens,
    temperature,
    seed,
    stop_token_ids: endTokens,
    ...(ids === 'beside' ? { return_token_ids: true } : {}),
    ...(ids === 'listed' ? { logprobs: 1 } : {}),
    // If only the last event reports reuse, the answer must be read to its end, so the server has to stop by itself.
    ...(reportsReuseEarly || stopTexts.length === 0 ? {} : { stop: stopTexts, include_stop_str_in_output: true }),
  };
}

/** Reads an answer until reuse is reported, and counts it; null if aborted before. @throws BenchError `unreachable` if cut off */
async function settle(
  { sender, prompt }: Omit<GenerateRequest, 'reporting'>,
  stream: AnswerStream,
  stop: Generation['stop'],
): Promise<Counts | null> {
  const isReported = stream.timings?.cache_n !== undefined;
  if (stop === 'aborted' && !isReported) {
    sender.markLost();
    return null;
  }
  const isLeftEarly = stop === 'aborted' || ((stop === 'stop-text' || stop === 'sentence') && isReported);
  if (!isLeftEarly) {
    await stream.finish();
    if (!stream.isWhole) throw sender.server.connection.errors.unreachable('the answer was cut off');
  }
  return sender.count(prompt, stream);
}

/** Tokens of a streamed completion, with usage and timings reported so far. */
export class AnswerStream extends TokenStream<Completion> {
  usage: Completion['usage'];
  timings: Completion['timings'];
  reportsIds = false;
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

  /** Adds tokens that the server counted but did not send, and removes the end token. */
  protected end(): void {
    this.isOver = true;
    this.pad(this.usage?.completion_tokens ?? 0);
    if (this.#reason === 'stop' && !this.#isStopText && this.waiting.at(-1)?.content === '') this.waiting.pop();
  }

  /** @param predicted tokens generated so far; any that were not sent come before the ones in this event */
  #add({ text, token_ids: sent, logprobs }: Choice, predicted = 0): void {
    const known = sent ?? logprobs?.content?.map(({ id }) => id);
    this.reportsIds ||= (known ?? []).length > 0;
    const ids = known ?? (text === '' ? [] : [UNKNOWN_TOKEN]);
    this.pad(predicted - ids.length);
    if (ids.length === 0 && text !== '') this.extend(text);
    // If an event has several tokens, its text is attributed to the last one that is not an end token.
    const last = Math.max(
      ids.findLastIndex((id) => !this.#endTokens.includes(id)),
      0,
    );
    ids.forEach((id, index) => this.waiting.push({ id, content: index === last ? text : '' }));
  }
}
