import type { LanguageModelEntry, PromptDefaults } from './registry.ts';

/** For a model that nobody has tried: what made the tried models answer from their notes. */
const untried: Omit<PromptDefaults, 'template'> = {
  systemPrompt: 'Answer with the exact words of the notes.',
  labels: 'index',
  answerPrefix: 'According to your notes,',
};

/** How a model is prompted by default: as its entry says, else in its chat template if it has one. */
export function defaultPrompt(entry: LanguageModelEntry | undefined, hasChatTemplate: boolean): PromptDefaults {
  return entry?.asked ?? { ...untried, template: hasChatTemplate ? 'chat' : 'plain' };
}

/**
 * The beginning of an answer for questions without one of their own; empty for none.
 * @param answerPrefix the option: `none`, `item`, or a text
 */
export function fallbackAnswerPrefix(answerPrefix: string, defaults: PromptDefaults): string {
  const isText = (prefix: string): boolean => prefix !== 'none' && prefix !== 'item';
  if (isText(answerPrefix)) return answerPrefix;
  if (defaults.answerPrefix === 'none') return '';
  return isText(defaults.answerPrefix) ? defaults.answerPrefix : untried.answerPrefix;
}
