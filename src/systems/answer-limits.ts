import type { GenerationLimits } from '../llm/generation.ts';
import type { ChatRequest } from './contracts.ts';
import type { PromptForm } from './prompt/prompt-form.ts';

const MAX_NEW_TOKENS = 48;

/** When an answer ends: 48 tokens at most where nothing else is asked for, and never more than the prompt reserved. */
export function answerLimits(
  { stopTexts }: Pick<PromptForm, 'stopTexts'>,
  reserveTokens: number,
  request: Pick<ChatRequest, 'maxNewTokens' | 'temperature' | 'signal' | 'onText'> = {},
): GenerationLimits {
  const { maxNewTokens, temperature = 0, signal, onText } = request;
  return {
    maxTokens: maxNewTokens ?? Math.min(MAX_NEW_TOKENS, reserveTokens),
    stopTexts,
    temperature,
    ...(signal === undefined ? {} : { signal }),
    ...(onText === undefined ? {} : { onText }),
  };
}
