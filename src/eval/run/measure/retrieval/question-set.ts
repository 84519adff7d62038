import { mentionUsers } from '../../../../data/generators/mention-data.ts';
import { retrievalUsers } from '../../../../data/generators/retrieval-data.ts';
import type { DatasetItem } from '../../../../data/dataset.ts';
import type { DrawnDataset } from '../../draw-users.ts';
import { memoryEntry, type MemoryEntry } from '../../memory-entry.ts';

/** A question and all memories that it needs, at least one. */
export interface AskedQuestion extends Pick<DatasetItem, 'query' | 'askedAt'> {
  readonly questionId: string;
  readonly kind: string;
  readonly evidence: readonly string[];
  /** The list of the item, for strategy `given`. */
  readonly passages?: readonly string[] | undefined;
  /** The conversation before it, for strategies that read it. */
  readonly history?: DatasetItem['history'];
}

/** One user, as every strategy is asked for it. */
export interface AskedUser {
  readonly userId: string;
  readonly memories: readonly MemoryEntry[];
  readonly questions: readonly AskedQuestion[];
}

/** Users with questions of one origin. */
export interface QuestionSet {
  /** Name of the data set; undefined for questions made by seed. */
  readonly dataset: string | undefined;
  readonly users: readonly AskedUser[];
  /** Items that no memory is known to answer: nothing could be found for them. */
  readonly leftOut: number;
}

/** The questions of a data set. */
export interface DatasetQuestions extends QuestionSet {
  readonly dataset: string;
}

/** The questions of suite `retrieval`, made by seed. */
export function madeQuestions(seed: number): QuestionSet {
  return { dataset: undefined, users: retrievalUsers(seed), leftOut: 0 };
}

/** Name of the questions about what was said several times. */
const MENTIONS = 'repeated mentions';

/** Questions about what was said several times, made by seed: the measurement of reinforcement. */
export function mentionQuestions(seed: number): DatasetQuestions {
  return { dataset: MENTIONS, users: mentionUsers(seed), leftOut: 0 };
}

/** The items of a data set that memories answer, by category. */
export function questionsOf({ part, users }: DrawnDataset): DatasetQuestions {
  const items = users.flatMap((user) => user.items);
  const answered = items.filter(({ evidence }) => evidence.length > 0);
  const asked = users.map(({ userId, memories, items: own }): AskedUser => ({
    userId,
    memories: memories.map(memoryEntry),
    questions: own
      .filter(({ evidence }) => evidence.length > 0)
      .map(({ itemId: questionId, category: kind, query, evidence, askedAt, history, passages }) => ({
        ...{ questionId, kind, query, evidence, askedAt, history, passages },
      })),
  }));
  return { dataset: part.name, users: asked, leftOut: items.length - answered.length };
}
