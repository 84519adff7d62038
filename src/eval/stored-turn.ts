import type { TurnRow } from '../db/schema.ts';
import type { PromptInfo, Timings, TokenCounts } from '../systems/contracts.ts';
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

/** What the stored segments and budget of a prompt say. */
export interface PromptFacts {
  readonly tokens: number;
  /** Up to the last memory line; 0 without memories. */
  readonly prefixTokens: number;
  /** The memories that stand in it, in their order. */
  readonly memoryIds: readonly string[];
  readonly forced: boolean;
  readonly droppedMemories: number;
  readonly droppedHistory: number;
}

/** What a turn was asked, for grouping and for showing. */
export interface ItemSummary {
  readonly gold: string | null;
  readonly category: string;
  /** Empty where the data set does not say. */
  readonly phrasing: string;
  readonly userKind: string;
  /** Memories that the user had when asked, and how many of them are the evidence. */
  readonly memories: number;
  readonly evidence: number;
}

export interface AnsweredTurn extends TurnIdentity {
  readonly state: 'answered';
  readonly answer: string;
  readonly scores: Scores;
  readonly evidence: TurnEvidence;
  readonly timings: Timings;
  readonly tokens: TokenCounts;
  readonly item: ItemSummary;
  readonly prompt: PromptFacts;
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
    prompt: promptFacts(row.promptInfo as PromptInfo),
    timings: row.timings as Timings,
    tokens: row.tokens as TokenCounts,
    keptMemories: (row.memories as readonly { readonly kept: boolean }[]).filter((memory) => memory.kept).length,
  };
}

function promptFacts({ segments, budget }: PromptInfo): PromptFacts {
  const tokensOf = (list: PromptInfo['segments']): number =>
    list.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const lastMemory = segments.findLastIndex(({ role }) => role === 'memory');
  const dropped = (part: 'memory' | 'history'): number => budget.dropped.filter((drop) => drop.part === part).length;
  return {
    tokens: tokensOf(segments),
    prefixTokens: tokensOf(segments.slice(0, lastMemory + 1)),
    memoryIds: segments.flatMap(({ memoryId }) => memoryId ?? []),
    forced: budget.forced,
    droppedMemories: dropped('memory'),
    droppedHistory: dropped('history'),
  };
}
