import type { Grammar } from '../../../src/base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { PhrasingSide } from '../../../src/data/generators/facts-and-relations.ts';

/** Attention between memories in training: full (`text`), none beyond the header, or only from recomputed first tokens. */
export type TrainingLayout = 'text' | 'blocks' | 'parallel' | 'link' | 'none';

/** Stage of training: `base` on text, `block` also on the layouts of joined KV. */
export type TrainingStage = 'base' | 'block';

/** Choices with weights, which sum to 1. */
type Weights<T> = readonly (readonly [weight: number, choice: T])[];

export function weighted<T>(random: SeededRandom, choices: Weights<T>): T {
  let left = random.float();
  return (choices.find(([weight]) => (left -= weight) < 0) ?? choices[0]!)[1];
}

export const LAYOUTS: Readonly<Record<TrainingStage, Weights<TrainingLayout>>> = {
  base: [
    [0.95, 'text'],
    [0.05, 'none'],
  ],
  block: [
    [0.4, 'text'],
    [0.25, 'blocks'],
    [0.2, 'parallel'],
    [0.1, 'link'],
    [0.05, 'none'],
  ],
};

/** Numbers of recomputed tokens of a memory in layout `link`, equally likely. */
export const RECOMPUTED_TOKENS = [1, 2, 4, 8] as const;

export const LANGUAGES: Weights<Grammar['language']> = [
  [0.55, 'en'],
  [0.45, 'zh'],
];

/** Kinds of tasks: questions that need several memories, or one memory and the conversation. */
export type TaskKind = 'join' | 'list' | 'order' | 'dates' | 'choice' | 'shared' | 'reference' | 'coreference';

/** Difficulty of the dialogues. */
export interface Curriculum {
  /** Fewest and most facts of a document. */
  readonly sizes: Weights<readonly [low: number, high: number]>;
  /** Shares of facts about others, updated facts, open relations, and kinds of questions. */
  readonly others: number;
  readonly updates: number;
  readonly open: number;
  readonly absent: number;
  readonly history: number;
  readonly chatter: number;
  /** Numbers of tasks of a document, equally likely. */
  readonly tasks: readonly number[];
  /** Kinds of tasks; repeated kinds are more likely. */
  readonly kinds: readonly TaskKind[];
}

const FULL: Curriculum = {
  sizes: [
    [0.76, [1, 12]],
    [0.16, [13, 24]],
    [0.06, [25, 48]],
    [0.02, [49, 96]],
  ],
  others: 0.3,
  updates: 0.12,
  open: 0.45,
  absent: 0.15,
  history: 0.08,
  chatter: 0.2,
  tasks: [0, 1, 1, 2],
  kinds: ['join', 'list', 'list', 'order', 'choice', 'shared', 'reference'],
};

/** Levels of difficulty: level 0 has one or two memories, the last level is that of the bench. */
export const CURRICULUM: readonly Curriculum[] = [
  { ...FULL, sizes: [[1, [1, 2]]], others: 0, updates: 0, absent: 0.03, history: 0, chatter: 0.05, tasks: [0] },
  {
    ...FULL,
    sizes: [[1, [1, 4]]],
    others: 0.2,
    updates: 0.05,
    absent: 0.08,
    history: 0.03,
    chatter: 0.1,
    tasks: [0, 0, 1],
  },
  { ...FULL, sizes: [[1, [1, 6]]] },
  { ...FULL, sizes: [[1, [1, 8]]] },
  FULL,
];

/** Mixture for training documents of the last level, with additional tasks. Model cards use the last level only. */
export const PRACTICE: Weights<Curriculum> = [
  [0.5, FULL],
  [
    0.35,
    {
      ...FULL,
      sizes: [
        [0.8, [1, 16]],
        [0.2, [17, 32]],
      ],
      absent: 0.2,
      history: 0.12,
      tasks: [2, 3, 4, 5],
      kinds: [...FULL.kinds, 'join', 'dates', 'dates', 'coreference'],
    },
  ],
  [0.15, { ...FULL, sizes: [[1, [1, 6]]], others: 0, tasks: [1, 1, 2], kinds: ['coreference'] }],
];

export interface DocumentOptions {
  readonly heldOut: boolean;
  readonly phrasing: PhrasingSide;
  /** Default: drawn by `LANGUAGES`. */
  readonly language?: Grammar['language'];
  readonly stage?: TrainingStage;
  readonly layout?: TrainingLayout;
  readonly memories?: number;
}
