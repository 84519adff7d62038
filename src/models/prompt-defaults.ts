import type { PromptText } from '../config/bench-config.ts';
import type { LanguageModelEntry, PromptDefaults } from './model-registry.ts';

/** Defaults for models that are not in the registry: with these, the models in it answered from their notes. */
const untried: Omit<PromptDefaults, 'template'> = {
  systemPrompt: { en: 'Answer with the exact words of the notes.', zh: '请用笔记中的原话回答。' },
  memoryHeader: { en: 'Relevant information:', zh: '相关信息：' },
  labels: 'index',
  answerPrefix: 'According to your notes,',
};
const untriedAnswerPrefix: PromptText = { en: untried.answerPrefix, zh: '根据你的笔记，' };

/** Prompt defaults of a model: by its entry, else `untried`, in its chat template if it has one. */
export function defaultPrompt(entry: LanguageModelEntry | undefined, hasChatTemplate: boolean): PromptDefaults {
  return entry?.asked ?? { ...untried, template: hasChatTemplate ? 'chat' : 'plain' };
}

/**
 * Answer prefix for questions that have none themselves; empty for none.
 * @param answerPrefix the option: `none`, `item`, or a text
 */
export function fallbackAnswerPrefix(answerPrefix: string, defaults: PromptDefaults): PromptText {
  const isText = (prefix: string): boolean => prefix !== 'none' && prefix !== 'item';
  if (isText(answerPrefix) && answerPrefix !== untried.answerPrefix) return answerPrefix;
  if (defaults.answerPrefix === 'none') return '';
  const isOwn = isText(defaults.answerPrefix) && defaults.answerPrefix !== untried.answerPrefix;
  return isOwn ? defaults.answerPrefix : untriedAnswerPrefix;
}
