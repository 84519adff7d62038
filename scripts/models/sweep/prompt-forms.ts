import { BenchError } from '../../../src/base/bench-error.ts';
import { didYouMean } from '../../../src/base/nearest-name.ts';
import type { SystemParts } from '../../../src/systems/answer-turn.ts';

/** A way of asking; `rules` are those by which its prompts differ from the others'. */
export interface PromptFormCandidate {
  /** Its parts by name: `notes general index`. */
  readonly name: string;
  readonly rules: Pick<SystemParts['rules'], 'systemPrompt' | 'answerPrefix' | 'labels' | 'memoryHeader'>;
}

/** Instructions of the system message, by the names that stand in tables. */
const systemPrompts = {
  helpful: 'You are a helpful assistant.',
  notes: 'Answer with the exact words of the notes.',
  sentence: 'Answer the question about the user in one short sentence, from what the user has said.',
} as const;

/** The beginning of every answer, where it is not the item's own. */
const generalPrefix = 'According to your notes,';

/** Lines above the memories, where they are not the usual one. */
const headers = { information: undefined, notes: 'Notes:', said: 'The user has said:' } as const;

const prefixes = ['none', 'general', 'item'] as const;
const labels = ['index', 'bullet'] as const;

function candidate(
  system: keyof typeof systemPrompts,
  prefix: (typeof prefixes)[number],
  label: (typeof labels)[number],
  header: keyof typeof headers,
): PromptFormCandidate {
  const memoryHeader = headers[header];
  return {
    name: `${system} ${prefix} ${label} ${header}`,
    rules: {
      systemPrompt: systemPrompts[system],
      answerPrefix: { general: generalPrefix, use: prefix },
      labels: label,
      ...(memoryHeader === undefined ? {} : { memoryHeader }),
    },
  };
}

const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] => Object.keys(record) as Key[];

/** Every combination, in the order of their names' parts. */
const all: readonly PromptFormCandidate[] = keysOf(systemPrompts).flatMap((system) =>
  prefixes.flatMap((prefix) =>
    labels.flatMap((label) => keysOf(headers).map((header) => candidate(system, prefix, label, header))),
  ),
);

/**
 * The forms of a pattern of four parts, instruction, answer prefix, labels and header: `notes general index information`; an
 * asterisk stands for every value of a part, a part that is left out for its first.
 * @throws BenchError `bad-option` for one that no form fits
 */
export function formsNamed(pattern: string): readonly PromptFormCandidate[] {
  const asked = pattern.trim().split(/\s+/u);
  const first = all[0]!.name.split(' ');
  const fits = ({ name }: PromptFormCandidate): boolean =>
    name.split(' ').every((part, index) => asked[index] === '*' || part === (asked[index] ?? first[index]));
  const found = all.filter(fits);
  if (found.length > 0 && asked.length <= first.length) return found;
  const parts = [...new Set(all.flatMap(({ name }) => name.split(' ')))];
  const unknown = asked.find((part) => part !== '*' && !parts.includes(part));
  throw new BenchError(
    'bad-option',
    `--forms: no form is called "${pattern}"${unknown === undefined ? '' : didYouMean(unknown, parts)}`,
    `a form is an instruction, an answer prefix, labels and a header, of ${parts.join(', ')}; * stands for all`,
  );
}
