import { BenchError } from '../../../base/bench-error.ts';
import { type Eviction, parseEviction } from '../../../kv/eviction-scores.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { PrefillRecord, StoreType } from '../../../store/records/prefill-record.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';
import type { TurnRecord } from '../../../store/records/turn-record.ts';
import { type JoinRecipe, parseRecipe } from '../../../systems/prefill/join-recipe.ts';
import { type PrefixParts, questionRange } from '../../../systems/prompt/tokenised-memory-lines.ts';
import type { PromptForm } from '../../../systems/prompt/prompt-form.ts';
import { isRedacted } from '../../analysis/redact-turn.ts';
import { hashIds } from '../observe/post-turn-measurements.ts';

export interface StoredInjection {
  /** How blocks are joined; null for one contiguous prefix. */
  readonly recipe: JoinRecipe | null;
  readonly alpha: number;
  /** The rule that dropped tokens, of each block or of the prefix; null if none were. */
  readonly evict: Eviction | null;
  readonly keptAs: StoreType;
  readonly memoryIds: readonly string[];
  readonly positions: readonly number[];
}

/** The sequence in front of a stored turn's answer, and the numbers that must come out of it again. */
export interface StoredSequence {
  readonly userId: string;
  readonly segments: readonly PromptSegment[];
  readonly ranked: readonly string[];
  readonly injection: StoredInjection | null;
  readonly reserveTokens: number;
  readonly form: PromptForm['name'];
  readonly answer: string;
  readonly generatedTokens: number;
  readonly nextTokens: TurnObservation['nextTokens'];
}

/** The sequence of a turn. @throws BenchError `not-reproduced` if it failed, or has other ids than its session had */
export function storedSequence(turn: TurnRecord): StoredSequence {
  const { itemId, arm } = turn;
  const refuse = (why: string, hint: string): BenchError =>
    new BenchError('not-reproduced', `the turn of item ${itemId}, arm ${arm} cannot be computed again: ${why}`, hint);
  if (turn.state === 'failed') throw refuse('it failed, and has no answer', 'choose a turn that was answered');
  const { prompt, prefill, account, answer, observed } = turn;
  const ids = prompt.segments.flatMap(({ tokenIds }) => tokenIds);
  if (isRedacted(ids)) throw refuse('its prompt was not stored (--no-text)', 'run the bench again, without --no-text');
  // Of an evicting arm, cells that several tokens share have no known token.
  const isForeign =
    prefill?.evicted === undefined ? hashIds(ids) !== observed.sequenceSha256 : observed.firstForeignToken !== null;
  // Tokens that share positions, or stand as sinks in front of blocks, are not comparable with the prompt.
  const isComparable = !account.sharesPositions && !keepsSinks(prefill);
  if (isComparable && isForeign) throw refuse('its ids are not those that the session held', 'run the bench again');
  return {
    userId: turn.userId,
    segments: prompt.segments,
    ranked: turn.given.retrieved.map(({ memoryId }) => memoryId),
    injection: prefill === null ? null : storedInjection(prefill),
    reserveTokens: prompt.budget.reserveTokens,
    form: prompt.segments.some(({ role }) => role === 'template') ? 'chat' : 'plain',
    answer: answer.text,
    generatedTokens: answer.tokenIds.length,
    nextTokens: observed.nextTokens,
  };
}

export function memoryIds({ segments }: StoredSequence): string[] {
  return segments.flatMap(({ memoryId }) => memoryId ?? []);
}

/** A sequence cut where injection ends. Without one memory its line alone is gone: labels and header stay. */
export function splitSequence({ segments, injection, ranked }: StoredSequence, leftOut?: string): PrefixParts {
  const last = segments.findLastIndex(({ memoryId = '' }) => injection?.memoryIds.includes(memoryId));
  const isLeft = ({ memoryId }: PromptSegment): boolean => memoryId === undefined || memoryId !== leftOut;
  const front = segments.slice(0, last + 1).filter(isLeft);
  const behind = segments.slice(last + 1).filter(isLeft);
  return {
    header: front.flatMap(({ memoryId, tokenIds }) => (memoryId === undefined ? tokenIds : [])),
    lines: front.flatMap(({ memoryId, tokenIds }) => (memoryId === undefined ? [] : [{ memoryId, tokenIds }])),
    suffix: behind.flatMap(({ tokenIds }) => tokenIds),
    question: questionRange(behind),
    ranked,
  };
}

function keepsSinks(prefill: PrefillRecord | null): boolean {
  return prefill !== null && prefill.strategy !== 'prefix' && prefill.making?.sink?.kept === true;
}

function storedInjection(prefill: PrefillRecord): StoredInjection {
  const { alpha, evicted, keptAs = 'f16' } = prefill;
  const evict = evicted === undefined ? null : parseEviction(evicted);
  if (prefill.strategy === 'prefix') {
    return { recipe: null, alpha, evict, keptAs, memoryIds: prefill.memoryIds, positions: [] };
  }
  const { strategy, making, blocks } = prefill;
  return {
    recipe: parseRecipe(strategy, making),
    alpha,
    evict,
    keptAs,
    memoryIds: blocks.map(({ memoryId }) => memoryId),
    positions: blocks.map(({ position }) => position),
  };
}
