import { grammars } from '../../config/grammar.ts';
import type { PromptRules } from './build-prompt.ts';

/** Of the shipped models. */
const PRESET = grammars.en.systemPrompts[0]!;

/** What the system message says where a turn brings nothing of its own. */
export function systemPromptOf({ systemPrompt }: Pick<PromptRules, 'systemPrompt'>): string {
  return systemPrompt ?? PRESET;
}
