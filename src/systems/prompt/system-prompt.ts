import { grammars } from '../../config/grammar.ts';
import type { Language } from '../../config/language.ts';
import type { PromptRules } from './build-prompt.ts';

/** What the system message says to a user of that language, where a turn brings nothing of its own. */
export function systemPromptOf({ systemPrompt }: Pick<PromptRules, 'systemPrompt'>, language: Language): string {
  if (systemPrompt === undefined) return grammars[language].systemPrompts[0]!;
  return typeof systemPrompt === 'string' ? systemPrompt : systemPrompt[language];
}
