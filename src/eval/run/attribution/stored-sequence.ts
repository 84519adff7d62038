import { BenchError } from '../../../base/bench-error.ts';
import type { TokenId, TokenRange } from '../../../engine/token-id.ts';
import { type Eviction, parseEviction } from '../../../kv/eviction-scores.ts';
import type { PrefillRecord, StoreType } from '../../../store/records/prefill-record.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';
import type { TurnRecord } from '../../../store/records/turn-record.ts';
import { type JoinRecipe, parseRecipe } from '../../../systems/prefill/join-recipe.ts';
import { type MemoryLines, questionRange } from '../../../systems/prompt/memory-lines.ts';
import type { PromptForm } from '../../../systems/prompt/prompt-form.ts';
import { isHidden } from '../../analysis/redact.ts';
import { hashIds } from '../observe/hash-ids.ts';

/** The KV in front of a turn's prompt. */
export type StoredInjection =
  | {
      readonly prefill: 'prefix';
      readonly alpha: number;
      /** Tokens that were dropped; null for none. */
      readonly evict: Eviction | null;
      readonly keptAs: StoreType;
      readonly memoryIds: readonly string[];
    }
  | {
      readonly prefill: JoinRecipe;
      readonly alpha: number;
      /** Of each block. */
      readonly evict: Eviction | null;
      readonly keptAs: StoreType;
      readonly memoryIds: readonly string[];
      /** The position of the first cell of each block. */
      readonly positions: readonly number[];
    };

/** The sequence in front of a stored turn's answer, and the numbers that must come out of it again. */
export interface StoredSequence {
  readonly userId: string;
  readonly segments: readonly PromptSegment[];
  /** Ids of all memories that were retrieved, the best first. */
  readonly ranked: readonly string[];
  /** Null where all of it was text. */
  readonly injection: StoredInjection | null;
  readonly reserveTokens: number;
  readonly form: PromptForm['name'];
  readonly answer: string;
  readonly generatedTokens: number;
  /** The likeliest tokens at the beginning of the answer, the likeliest first. */
  readonly nextTokens: Observed['nextTokens'];
}

/** A sequence cut where injection ends; its header is empty where nothing is injected. */
export interface SequenceParts extends MemoryLines {
  readonly suffix: readonly TokenId[];
  /** The question in the suffix. */
  readonly question: TokenRange;
}

/**
 * The sequence of a turn.
 * @throws BenchError `not-reproduced` for a turn that failed, or whose ids are not those that the session held
 */
export function storedSequence(turn: TurnRecord): StoredSequence {
  if (turn.state === 'failed') throw cannot(turn, 'it failed, and has no answer', 'choose a turn that was answered');
  const { prompt, prefill, account, answer, observed } = turn;
  const ids = prompt.segments.flatMap(({ tokenIds }) => tokenIds);
  if (isHidden(ids)) {
    throw cannot(turn, 'its prompt was not stored (--no-text)', 'run the bench again, without --no-text');
  }
  // The tokens of cells that several tokens share are not known: the others are.
  const isForeign =
    prefill?.evicted === undefined ? hashIds(ids) !== observed.sequenceSha256 : observed.firstForeignToken !== null;
  // Tokens that share positions are in no list, and those that are kept in front of blocks in no prompt.
  const isListed = !account.sharesPositions && !hasKeptSinks(prefill);
  if (isListed && isForeign) {
    throw cannot(turn, 'its ids are not those that the session held', 'run the bench again');
  }
  return {
    userId: turn.userId,
    segments: prompt.segments,
    ranked: turn.given.retrieved.map(({ memoryId }) => memoryId),
    injection: prefill === null ? null : injectionOf(prefill),
    reserveTokens: prompt.budget.reserveTokens,
    form: prompt.segments.some(({ role }) => role === 'template') ? 'chat' : 'plain',
    answer: answer.text,
    generatedTokens: answer.tokenIds.length,
    nextTokens: observed.nextTokens,
  };
}

/** The memories of a sequence, in their order. */
export function memoriesOf({ segments }: StoredSequence): string[] {
  return segments.flatMap(({ memoryId }) => memoryId ?? []);
}

/**
 * The parts of a sequence; without one memory, its line is gone and everything else stands as it stood, the labels of the
 * other lines and the header of the list too, so that one thing changes.
 */
export function partsOf({ segments, injection }: StoredSequence, leftOut?: string): SequenceParts {
  const injected = new Set(injection?.memoryIds ?? []);
  const lastInjected = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && injected.has(memoryId));
  const isKept = ({ memoryId }: PromptSegment): boolean => memoryId === undefined || memoryId !== leftOut;
  const front = segments.slice(0, lastInjected + 1).filter(isKept);
  const behind = segments.slice(lastInjected + 1).filter(isKept);
  return {
    header: front.flatMap(({ memoryId, tokenIds }) => (memoryId === undefined ? tokenIds : [])),
    lines: front.flatMap(({ memoryId, tokenIds }) => (memoryId === undefined ? [] : [{ memoryId, tokenIds }])),
    suffix: behind.flatMap(({ tokenIds }) => tokenIds),
    question: questionRange(behind),
  };
}

function hasKeptSinks(prefill: PrefillRecord | null): boolean {
  return prefill !== null && prefill.strategy !== 'prefix' && prefill.making?.sink?.kept === true;
}

function injectionOf(prefill: PrefillRecord): StoredInjection {
  const { alpha, evicted, keptAs = 'f16' } = prefill;
  const evict = evicted === undefined ? null : parseEviction(evicted);
  if (prefill.strategy === 'prefix') return { prefill: 'prefix', alpha, evict, keptAs, memoryIds: prefill.memoryIds };
  return {
    prefill: parseRecipe(prefill.strategy, prefill.making),
    alpha,
    evict,
    keptAs,
    memoryIds: prefill.blocks.map(({ memoryId }) => memoryId),
    positions: prefill.blocks.map(({ position }) => position),
  };
}

function cannot({ itemId, arm }: TurnRecord, why: string, hint: string): BenchError {
  return new BenchError(
    'not-reproduced',
    `the turn of item ${itemId}, arm ${arm} cannot be computed again: ${why}`,
    hint,
  );
}
