import type { Generation, GenerationLimits } from '../engine/engine-session.ts';
import type { AnswerRecord } from '../store/records/turn-record.ts';
import type { ChatRequest } from './contracts.ts';
import type { AnswerOpening } from './prompt/answer-place.ts';
import { withPrefix } from './prompt/answer-prefix.ts';
import type { BuiltPrompt } from './prompt/build-prompt.ts';
import type { PromptForm } from './prompt/prompt-form.ts';

const MAX_NEW_TOKENS = 48;

/** The end of an answer: one sentence, within 48 tokens where no other number is asked for, and never more than were reserved. */
export function answerLimits(
  { stopTexts }: Pick<PromptForm, 'stopTexts'>,
  reserveTokens: number,
  request: Pick<ChatRequest, 'maxNewTokens' | 'temperature' | 'onText' | 'answerPrefix'> = {},
): GenerationLimits {
  const { maxNewTokens, temperature = 0, onText, answerPrefix = '' } = request;
  return {
    maxTokens: Math.min(maxNewTokens ?? MAX_NEW_TOKENS, reserveTokens),
    stopTexts,
    oneSentence: true,
    temperature,
    ...(onText === undefined
      ? {}
      : { onToken: (id, text) => (id === null ? undefined : onText(withPrefix(answerPrefix, text))) }),
  };
}

/** A prompt whose budget warns where more new tokens are asked for than it reserves. */
export function withReserveWarning(prompt: BuiltPrompt, maxNewTokens: number | undefined): BuiltPrompt {
  const { budget } = prompt.info;
  const { reserveTokens } = budget;
  if (maxNewTokens === undefined || maxNewTokens <= reserveTokens) return prompt;
  const warning = `maxNewTokens ${maxNewTokens} is above the reserve: the answer ends after ${reserveTokens} tokens`;
  return { ...prompt, info: { ...prompt.info, budget: { ...budget, warnings: [...budget.warnings, warning] } } };
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
