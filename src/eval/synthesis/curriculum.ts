import type { PhrasingSide } from './relations.ts';

/** How memories see each other in training: as ordinary text, or each alone behind the header. */
export type TrainingLayout = 'text' | 'blocks' | 'parallel' | 'none';

/** How hard the dialogues are. */
export interface Curriculum {
  readonly maxMemories: number;
  /** Share of documents that hold up to twice as many memories. */
  readonly longShare: number;
  /** Shares: facts about others, facts that a later memory replaces, open relations, and kinds of questions. */
  readonly others: number;
  readonly updates: number;
  readonly open: number;
  readonly absent: number;
  readonly history: number;
  readonly chatter: number;
  /** Weights of the layouts. */
  readonly layouts: Readonly<Record<TrainingLayout, number>>;
}

const FULL: Curriculum = {
  maxMemories: 12,
  longShare: 0.05,
  others: 0.3,
  updates: 0.12,
  open: 0.45,
  absent: 0.14,
  history: 0.06,
  chatter: 0.2,
  layouts: { text: 0.5, blocks: 0.25, parallel: 0.2, none: 0.05 },
};

/** Level 0 holds one or two memories; the last one is what the bench asks. */
export const CURRICULUM: readonly Curriculum[] = [
  {
    ...FULL,
    maxMemories: 2,
    longShare: 0,
    others: 0,
    updates: 0,
    absent: 0.03,
    history: 0,
    chatter: 0.05,
    layouts: { text: 0.55, blocks: 0.25, parallel: 0.2, none: 0 },
  },
  { ...FULL, maxMemories: 4, longShare: 0, others: 0.2, updates: 0.05, absent: 0.08, history: 0.03, chatter: 0.1 },
  { ...FULL, maxMemories: 6, longShare: 0 },
  { ...FULL, maxMemories: 8, longShare: 0 },
  FULL,
];

/** What a document may draw from, and how much of it. */
export interface DocumentOptions {
  readonly heldOut: boolean;
  readonly phrasing: PhrasingSide;
  readonly layout?: TrainingLayout;
  readonly memories?: number;
}
