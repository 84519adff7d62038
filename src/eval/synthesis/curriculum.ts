import type { Grammar } from '../../config/grammar.ts';
import type { SeededRandom } from '../random.ts';
import type { PhrasingSide } from './relations.ts';
import type { TaskKind } from './training-tasks.ts';

/** How memories see each other in training: as ordinary text, each alone behind the header, or but for its first tokens. */
export type TrainingLayout = 'text' | 'blocks' | 'parallel' | 'link' | 'none';

/** Which model is trained: an ordinary one, or one that has seen the layouts of joined K/V, too. */
export type TrainingStage = 'base' | 'block';

/** Weights, which sum to 1, and what they are of. */
type Weights<T> = readonly (readonly [weight: number, choice: T])[];

/** One of the choices, by their weights, which sum to 1. */
export function weighted<T>(random: SeededRandom, choices: Weights<T>): T {
  let left = random.float();
  return (choices.find(([weight]) => (left -= weight) < 0) ?? choices[0]!)[1];
}

/** Weights of the layouts. */
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

/** How many first tokens of a memory are evaluated again in layout `link`; each number is equally likely. */
export const LINKED = [1, 2, 4, 8] as const;

/** Weights of the languages. */
export const LANGUAGES: Weights<Grammar['language']> = [
  [0.55, 'en'],
  [0.45, 'zh'],
];

/** How hard the dialogues are. */
export interface Curriculum {
  /** Fewest and most facts of a document. */
  readonly sizes: Weights<readonly [low: number, high: number]>;
  /** Shares: facts about others, facts that a later memory replaces, open relations, and kinds of questions. */
  readonly others: number;
  readonly updates: number;
  readonly open: number;
  readonly absent: number;
  readonly history: number;
  readonly chatter: number;
  /** How many tasks that take more than one memory a document may hold; each number is equally likely. */
  readonly tasks: readonly number[];
  /** The kinds of them, each as likely as it is often here. */
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

/** Level 0 holds one or two memories; the last one is what the bench asks. */
export const CURRICULUM: readonly Curriculum[] = [
  {
    ...FULL,
    sizes: [[1, [1, 2]]],
    others: 0,
    updates: 0,
    absent: 0.03,
    history: 0,
    chatter: 0.05,
    tasks: [0],
  },
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

/** What training documents of the last level are drawn from: many practise tasks. The cards judge by the last level alone. */
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

/** What a document may draw from, and how much of it. */
export interface DocumentOptions {
  readonly heldOut: boolean;
  readonly phrasing: PhrasingSide;
  /** Drawn by LANGUAGES where absent. */
  readonly language?: Grammar['language'];
  readonly stage?: TrainingStage;
  readonly layout?: TrainingLayout;
  readonly memories?: number;
}
