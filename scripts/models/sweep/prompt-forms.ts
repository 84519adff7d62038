import { BenchError } from '../../../src/base/bench-error.ts';
import { didYouMean } from '../../../src/base/nearest-name.ts';
import type { SystemParts } from '../../../src/systems/answer-turn.ts';

/** A form of prompt: its name, such as `notes general index information`, and its rules. */
export interface PromptForm {
  readonly name: string;
  readonly rules: Pick<SystemParts['rules'], 'systemPrompt' | 'answerPrefix' | 'labels' | 'memoryHeader'>;
}

const systemPrompts = [
  ['helpful', 'You are a helpful assistant.'],
  ['notes', 'Answer with the exact words of the notes.'],
  ['sentence', 'Answer the question about the user in one short sentence, from what the user has said.'],
] as const;
/** The beginning of every answer with `general`; with `item` it is the item's own. */
const generalPrefix = 'According to your notes,';
/** Lines above the memories; `information` is the default line. */
const headers = [
  ['information', {}],
  ['notes', { memoryHeader: 'Notes:' }],
  ['said', { memoryHeader: 'The user has said:' }],
] as const;

/** Every combination, in the order of the parts of their names. */
const allForms: readonly PromptForm[] = systemPrompts.flatMap(([system, systemPrompt]) =>
  (['none', 'general', 'item'] as const).flatMap((use) =>
    (['index', 'bullet'] as const).flatMap((labels) =>
      headers.map(([header, memoryHeader]) => ({
        name: `${system} ${use} ${labels} ${header}`,
        rules: { systemPrompt, answerPrefix: { general: generalPrefix, use }, labels, ...memoryHeader },
      })),
    ),
  ),
);

/**
 * Finds the forms that match a pattern of four parts, instruction, answer prefix, labels and header: `notes general index information`.
 * An asterisk matches every value of a part; a missing part means its first value.
 * @throws BenchError `bad-option` if no form matches
 */
export function matchForms(pattern: string): readonly PromptForm[] {
  const wanted = pattern.trim().split(/\s+/u);
  const first = allForms[0]!.name.split(' ');
  const found = allForms.filter(({ name }) =>
    name.split(' ').every((part, index) => wanted[index] === '*' || part === (wanted[index] ?? first[index])),
  );
  if (found.length > 0 && wanted.length <= first.length) return found;
  const parts = [...new Set(allForms.flatMap(({ name }) => name.split(' ')))];
  const unknown = wanted.find((part) => part !== '*' && !parts.includes(part));
  throw new BenchError(
    'bad-option',
    `--forms: no form is called "${pattern}"${unknown === undefined ? '' : didYouMean(unknown, parts)}`,
    `a form is an instruction, an answer prefix, labels and a header, of ${parts.join(', ')}; * matches all`,
  );
}
