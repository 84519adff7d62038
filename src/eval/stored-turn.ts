import { createHash } from 'node:crypto';
import { BenchError } from '../config/bench-error.ts';
import type { ResultRow } from '../db/turn-repository.ts';
import type { PromptInfo, Timings, TokenCounts } from '../systems/contracts.ts';
import type { RetrievalRecord } from '../systems/recall.ts';
import type { Language } from './metrics/normalise.ts';
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

/** What the segments and budget of a prompt say, kept beside them so that tables need not read every token again. */
export interface PromptFacts {
  readonly tokens: number;
  /** Up to the last memory line; 0 without memories. */
  readonly prefixTokens: number;
  /** The memories that stand in it, in their order. */
  readonly memoryIds: readonly string[];
  readonly forced: boolean;
  readonly droppedMemories: number;
  readonly droppedHistory: number;
  /** Tokens of the memory lines, their header and footer. */
  readonly memoryTokens: number;
  /** sha-256 of the history in it: arms that answer differently have different conversations. */
  readonly historySha256: string;
  /** Memories that recall found, and those of them that fitted. */
  readonly recalledMemories: number;
  readonly keptMemories: number;
}

/** What a turn was asked, for grouping and for showing. */
export interface ItemSummary {
  readonly gold: string | null;
  readonly category: string;
  /** Empty where the data set does not say. */
  readonly phrasing: string;
  readonly userKind: string;
  /** Of the user; missing where all users of the run speak one. */
  readonly language?: Language;
  /** Memories that the user had when asked, and how many of them are the evidence. */
  readonly memories: number;
  readonly evidence: number;
  /** Place of the first memory of the evidence among the user's, by creation, from 0 to 1; null without evidence. */
  readonly evidencePlace: number | null;
  /** What the suite varies, as the data set gives it. */
  readonly condition: number | null;
}

export interface AnsweredTurn extends TurnIdentity {
  readonly state: 'answered';
  readonly answer: string;
  readonly scores: Scores;
  readonly evidence: TurnEvidence;
  readonly timings: Timings;
  readonly tokens: TokenCounts;
  readonly item: ItemSummary;
  /** How its memories were recalled; null for an arm that asked no retriever. */
  readonly retrieval: RetrievalRecord | null;
  readonly prompt: PromptFacts;
}

export interface FailedTurn extends TurnIdentity {
  readonly state: 'failed';
  readonly error: string;
}

/** What the `scores` column holds. */
export type StoredScores = Scores & {
  readonly evidence: TurnEvidence;
  readonly item: ItemSummary;
  readonly prompt: PromptFacts;
  /** Null for an arm that asked no retriever; missing in runs of versions that did not keep it. */
  readonly retrieval?: RetrievalRecord | null;
};

/** Reads a row that the runner wrote. @throws BenchError `database` where an earlier release wrote it */
export function storedTurn(row: ResultRow): StoredTurn {
  const { itemId, userId, arm, repeat } = row;
  if (row.error !== null) return { itemId, userId, arm, repeat, state: 'failed', error: row.error };
  const { evidence, item, prompt, retrieval = null, ...scores } = row.scores as StoredScores;
  if ((prompt as PromptFacts | undefined) === undefined) {
    throw new BenchError(
      'database',
      `the turn of item ${itemId}, arm ${arm} was written by an earlier release`,
      'run the bench again with this one',
    );
  }
  return {
    itemId,
    userId,
    arm,
    repeat,
    state: 'answered',
    answer: row.answer,
    scores,
    // Texts that no table shows, ten and more a turn.
    evidence: { ...evidence, nextTokens: [], goldTokens: [] },
    item,
    retrieval,
    prompt,
    timings: row.timings as Timings,
    tokens: row.tokens as TokenCounts,
  };
}

/** @param recalledMemories how many recall found */
export function promptFacts({ segments, budget, historyText }: PromptInfo, recalledMemories: number): PromptFacts {
  const tokensOf = (list: PromptInfo['segments']): number =>
    list.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const lastMemory = segments.findLastIndex(({ role }) => role === 'memory');
  const dropped = (part: 'memory' | 'history'): number => budget.dropped.filter((drop) => drop.part === part).length;
  const memoryIds = segments.flatMap(({ memoryId }) => memoryId ?? []);
  return {
    tokens: tokensOf(segments),
    prefixTokens: tokensOf(segments.slice(0, lastMemory + 1)),
    memoryIds,
    forced: budget.forced,
    droppedMemories: dropped('memory'),
    droppedHistory: dropped('history'),
    memoryTokens: tokensOf(segments.filter(({ role }) => role.startsWith('memory'))),
    historySha256: createHash('sha256').update(historyText).digest('hex'),
    recalledMemories,
    keptMemories: memoryIds.length,
  };
}
