import type { TokenId, TokenIds } from './token-id.ts';
import { sentenceEnd, surelyFirstSentence } from '../base/sentence-boundaries.ts';
import type { GenerateOptions } from './base-session.ts';
import type { Generation, GenerationLimits } from './engine-session.ts';

type TextLimits = Pick<GenerationLimits, 'stopTexts' | 'oneSentence'>;

const SPLIT_CHARACTER = /\ufffd+$/u;

/**
 * Finds the answer in the text generated so far. It ends at the first stop text, or with `oneSentence` at the end of its first
 * sentence. All engines use this: in this process to stop generating, with servers to cut what they sent.
 * @param isWhole no more text will come
 */
export function generatedText(generated: string, limits: TextLimits, isWhole: boolean) {
  const whole = generated.replace(SPLIT_CHARACTER, '');
  const start = answerStart(whole) ?? (isWhole ? 0 : whole.length);
  const answer = whole.slice(start);
  const stops = (limits.stopTexts ?? []).map((stopText) => answer.indexOf(stopText)).filter((index) => index >= 0);
  const stopText = Math.min(...stops, Infinity);
  const sentence = (limits.oneSentence === true ? sentenceEnd(answer, isWhole) : undefined) ?? Infinity;
  const cut = stopText <= sentence ? ('stop-text' as const) : ('sentence' as const);
  return {
    /** The answer, without leading white space and without an incomplete character at its end. */
    text: answer.slice(0, Math.min(stopText, sentence)).replace(SPLIT_CHARACTER, '').trimStart(),
    /** The rule that cut the answer; undefined if none did. */
    end: Math.min(stopText, sentence) === Infinity ? undefined : cut,
    /** The thought before the answer, including its marks; empty if there is none. */
    thought: whole.slice(0, start),
  };
}

/** The answer so far, without trailing text that is an incomplete character or may still be cut off. */
export function stableText(generated: string, limits: TextLimits): string {
  const { text } = generatedText(generated, limits, false);
  const beginnings = (limits.stopTexts ?? []).flatMap((stopText) =>
    Array.from(stopText, (_, index) => stopText.slice(0, index + 1)),
  );
  const held = Math.max(0, ...beginnings.filter((beginning) => text.endsWith(beginning)).map(({ length }) => length));
  const stays = text.slice(0, text.length - held);
  return limits.oneSentence === true ? surelyFirstSentence(stays) : stays;
}

/** Marks around thoughts, which do not belong to the answer. */
const thoughtMarks = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
] as const;

/**
 * Index at which the answer starts: 0 without a thought, the text's length while a thought is open, undefined while the text may
 * still turn into an opening mark.
 */
function answerStart(text: string): number | undefined {
  const begun = text.trimStart();
  const marks = thoughtMarks.find(({ open }) => begun.startsWith(open));
  if (marks === undefined)
    return begun !== '' && thoughtMarks.some(({ open }) => open.startsWith(begun)) ? undefined : 0;
  const closed = text.indexOf(marks.close);
  return closed === -1 ? text.length : closed + marks.close.length;
}

/** Closes an open thought in a prompt, which tells the model not to think. */
export function withoutOpenThought(text: string): string {
  const marks = thoughtMarks.find(({ open, close }) => text.lastIndexOf(open) > text.lastIndexOf(close));
  return marks === undefined ? text : `${text.trimEnd()}\n\n${marks.close}\n\n`;
}

function tokensOfThought(thought: string, tokens: TokenIds, detokenize: (tokens: TokenIds) => string): number {
  if (thought === '') return 0;
  const count = tokens.findIndex(
    (_, index) => detokenize(tokens.slice(0, index + 1)).replace(SPLIT_CHARACTER, '').length >= thought.length,
  );
  return count === -1 ? tokens.length : count + 1;
}

type Decoded = Omit<Generation, 'decodeMs' | 'retries'>;

/**
 * Requests tokens one by one until an end token, a stop text, the end of a sentence, the token limit, or an abort.
 * @param nextToken the first call evaluates the prompt, each later call the previous token; done at an end token
 */
export async function decodeTokens(
  nextToken: () => Promise<IteratorResult<TokenId, void>>,
  limits: GenerationLimits,
  detokenize: (tokens: TokenIds) => string,
  { signal, start }: GenerateOptions,
): Promise<Decoded> {
  const { maxTokens, onToken } = limits;
  const mayEnd = limits.oneSentence === true || (limits.stopTexts ?? []).length > 0;
  const tokens: TokenId[] = [];
  let next = await nextToken();
  const firstTokenMs = performance.now() - start;
  const decoded = (stop: Decoded['stop'], read = generatedText(detokenize(tokens), limits, true)): Decoded => {
    const { text, thought } = read;
    return { tokens, text, stop, firstTokenMs, thoughtTokens: tokensOfThought(thought, tokens, detokenize) };
  };
  /** The text so far if a stop text or the end of a sentence has ended it. */
  const endedText = (id: TokenId) => {
    if (!mayEnd && onToken === undefined) return undefined;
    const soFar = detokenize(tokens);
    const { end, ...read } = generatedText(soFar, limits, false);
    onToken?.(id, end === undefined ? stableText(soFar, limits) : read.text);
    return end && { ...read, end };
  };
  /** The next token; undefined if the call was aborted while a server computed it. */
  const nextUnlessAborted = async (): Promise<IteratorResult<TokenId, void> | undefined> => {
    try {
      return await nextToken();
    } catch (error) {
      if (signal?.aborted === true && error === signal.reason) return undefined;
      throw error;
    }
  };
  if (next.done === true) onToken?.(null, '');
  while (next.done !== true) {
    tokens.push(next.value);
    const ended = endedText(next.value);
    if (ended !== undefined) return decoded(ended.end, ended);
    if (signal?.aborted === true) return decoded('aborted');
    if (tokens.length === maxTokens) return decoded('length');
    const following = await nextUnlessAborted();
    if (following === undefined) return decoded('aborted');
    next = following;
  }
  return decoded('end');
}
