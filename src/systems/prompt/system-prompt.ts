import { grammars } from '../../config/grammar.ts';
import { type Language, languageOf } from '../../config/language.ts';
import type { PromptRules } from './build-prompt.ts';

/** What the system message says to a user of that language, where a turn brings nothing of its own. */
export function systemPromptOf({ systemPrompt }: Pick<PromptRules, 'systemPrompt'>, language: Language): string {
  if (systemPrompt === undefined) return grammars[language].systemPrompts[0]!;
  return typeof systemPrompt === 'string' ? systemPrompt : systemPrompt[language];
}

/** What the system message of a turn says: the turn's own text, else that for the language of its user, else of its query. */
export function systemPromptFor(
  {
    systemPrompt,
    language,
    query,
  }: { readonly systemPrompt?: string; readonly language?: Language; readonly query: string },
  rules: Pick<PromptRules, 'systemPrompt'>,
): string {
  return systemPrompt ?? systemPromptOf(rules, language ?? languageOf(query));
}
