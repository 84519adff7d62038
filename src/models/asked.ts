import type { Asked, LanguageModelEntry } from './registry.ts';

/** A model that nobody tried: what made the models that were tried answer from their notes. */
const unknownModel: Omit<Asked, 'template'> = {
  systemPrompt: 'Answer with the exact words of the notes.',
  labels: 'index',
  answerPrefix: 'According to your notes,',
};

/** How a model is asked where the user says nothing else: as its entry says, else in its chat template where it has one. */
export function askedOf(entry: LanguageModelEntry | undefined, hasChatTemplate: boolean): Asked {
  return entry?.asked ?? { ...unknownModel, template: hasChatTemplate ? 'chat' : 'plain' };
}

/**
 * The beginning of an answer for every question: the text that was asked for, else the model's own; empty for a model that
 * is given none.
 * @param answerPrefix `none`, `item`, or a text, as it was asked for
 */
export function generalPrefixOf(answerPrefix: string, asked: Asked): string {
  const isText = (prefix: string): boolean => prefix !== 'none' && prefix !== 'item';
  if (isText(answerPrefix)) return answerPrefix;
  if (asked.answerPrefix === 'none') return '';
  return isText(asked.answerPrefix) ? asked.answerPrefix : unknownModel.answerPrefix;
}
