import type { TurnRow } from '../db/schema.ts';
import type { Timings, TokenCounts } from '../systems/contracts.ts';
import type { Scores } from './metrics/scores.ts';
import type { TurnEvidence } from './run/turn-evidence.ts';

/** A turn as tables and gates read it from the database: answered, or failed with a reason. */
export type StoredTurn = AnsweredTurn | FailedTurn;

interface TurnIdentity {
  readonly itemId: string;
  readonly userId: string;
  readonly arm: string;
  readonly repeat: number;
}

/** What a turn was asked, for grouping and for showing. */
export interface ItemSummary {
  readonly gold: string | null;
  readonly category: string;
  /** Empty where the data set does not say. */
  readonly phrasing: string;
  readonly userKind: string;
}

export interface AnsweredTurn extends TurnIdentity {
  readonly state: 'answered';
  readonly answer: string;
  readonly scores: Scores;
  readonly evidence: TurnEvidence;
  readonly timings: Timings;
  readonly tokens: TokenCounts;
  readonly item: ItemSummary;
  readonly keptMemories: number;
}

export interface FailedTurn extends TurnIdentity {
  readonly state: 'failed';
  readonly error: string;
}

/** What the `scores` column holds. */
export type StoredScores = Scores & { readonly evidence: TurnEvidence; readonly item: ItemSummary };

/** Reads a row that the runner wrote. */
export function storedTurn(row: TurnRow): StoredTurn {
  const { itemId, userId, arm, repeat } = row;
  if (row.error !== null) return { itemId, userId, arm, repeat, state: 'failed', error: row.error };
  const { evidence, item, ...scores } = row.scores as StoredScores;
  return {
    itemId,
    userId,
    arm,
    repeat,
    state: 'answered',
    answer: row.answer,
    scores,
    evidence,
    item,
    timings: row.timings as Timings,
    tokens: row.tokens as TokenCounts,
    keptMemories: (row.memories as readonly { readonly kept: boolean }[]).filter((memory) => memory.kept).length,
  };
}
