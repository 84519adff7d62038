import { grammars } from '../../base/grammar.ts';
import { type Language, languageOf } from '../../base/language.ts';
import type { PromptRules } from './build-prompt.ts';

/** The system message for a user of that language, where a turn brings none of its own. */
export function systemPromptOf({ systemPrompt }: Pick<PromptRules, 'systemPrompt'>, language: Language): string {
  if (systemPrompt === undefined) return grammars[language].systemPrompts[0]!;
  return typeof systemPrompt === 'string' ? systemPrompt : systemPrompt[language];
}

/** The system message of a turn: the turn's own text, else that for the language of its user, else of its query. */
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
