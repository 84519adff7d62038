import type { Generation, GenerationLimits } from '../engine/generation.ts';
import type { AnswerRecord } from '../records/turn-record.ts';
import type { ChatRequest } from './contracts.ts';
import type { AnswerOpening } from './prompt/answer-place.ts';
import { withPrefix } from './prompt/answer-prefix.ts';
import type { BuiltPrompt } from './prompt/build-prompt.ts';
import type { PromptForm } from './prompt/prompt-form.ts';

const MAX_NEW_TOKENS = 48;

/**
 * The end of an answer: one sentence, within 48 tokens by default, and never more than the prompt reserved where nothing else
 * is asked for.
 */
export function answerLimits(
  { stopTexts }: Pick<PromptForm, 'stopTexts'>,
  reserveTokens: number,
  request: Pick<ChatRequest, 'maxNewTokens' | 'temperature' | 'onText' | 'answerPrefix'> = {},
): GenerationLimits {
  const { maxNewTokens, temperature = 0, onText, answerPrefix = '' } = request;
  return {
    maxTokens: maxNewTokens ?? Math.min(MAX_NEW_TOKENS, reserveTokens),
    stopTexts,
    oneSentence: true,
    temperature,
    ...(onText === undefined
      ? {}
      : { onToken: (id, text) => (id === null ? undefined : onText(withPrefix(answerPrefix, text))) }),
  };
}

/** The way in which a prompt opens the answer: with the prefix as its last segment, where there is one. */
export function openingOf({ name }: Pick<PromptForm, 'name'>, prefix: string, { info }: BuiltPrompt): AnswerOpening {
  const last = info.segments.at(-1);
  return { form: name, prefix, prefixTokens: last?.role === 'answerPrefix' ? last.tokenIds.length : 0 };
}

/** An answer as it is stored; its prefix with the white space that separates the two. */
export function answerRecordOf({ text, tokens, stop, thoughtTokens }: Generation, prefix: string): AnswerRecord {
  return {
    ...{ text, tokenIds: tokens, stop },
    ...(prefix === '' ? {} : { prefix: withPrefix(prefix, text).slice(0, -text.length || undefined) }),
    ...(thoughtTokens === 0 ? {} : { thoughtTokens }),
  };
}
