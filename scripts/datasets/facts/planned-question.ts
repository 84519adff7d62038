import type { FactTemplate } from './fact-grammar.ts';
import type { Acquaintance, Note } from './user-notes.ts';

/** Each question is in exactly one. */
export type FactCategory = 'plain' | 'paraphrase' | 'updated' | 'absent' | 'two memories' | 'history';

/** A question to be worded. */
export interface PlannedQuestion {
  readonly category: FactCategory;
  readonly about: Acquaintance;
  readonly fact: FactTemplate;
  /** The memory with the answer; undefined if none has it. */
  readonly note?: Note;
  /** Fixed where the memory was written to share no word with it. */
  readonly query?: string;
  /** The earlier question that this one asks once more. */
  readonly repeats?: PlannedQuestion;
}
