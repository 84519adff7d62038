import { BenchError } from '../../../base/bench-error.ts';
import { type Eviction, parseEviction, seesQuestion } from '../../../kv/eviction-rule-and-share.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { PrefillRecord, StoreType } from '../../../store/records/prefill-record.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';
import type { AnsweredTurn, TurnRecord } from '../../../store/records/turn-record.ts';
import { type JoinRecipe, parseRecipe } from '../../../systems/prefill/join-recipe.ts';
import { type PrefixParts, questionRange } from '../../../systems/prompt/build-prompt.ts';
import type { PromptForm } from '../../../systems/prompt/prompt-form.ts';
import { isRedacted } from '../../analysis/redact-turn.ts';
import { hashIds } from '../observe/post-turn-measurements.ts';

export interface StoredInjection {
  /** How blocks are joined; null for one contiguous prefix. */
  readonly recipe: JoinRecipe | null;
  readonly alpha: number;
  /** Eviction rule, applied to each block or to the prefix; null without eviction. */
  readonly evict: Eviction | null;
  readonly keptAs: StoreType;
  readonly memoryIds: readonly string[];
  readonly positions: readonly number[];
}

/** Token sequence of a stored turn, and the answer and probabilities that its replay must reproduce. */
export interface StoredSequence {
  readonly userId: string;
  readonly segments: readonly PromptSegment[];
  /** Ids of the retrieved memories, best first. */
  readonly ranked: readonly string[];
  readonly injection: StoredInjection | null;
  readonly reserveTokens: number;
  readonly form: PromptForm['name'];
  readonly answer: string;
  readonly generatedTokens: number;
  readonly nextTokens: TurnObservation['nextTokens'];
}

/** @throws BenchError `not-reproduced` for a failed turn, one without texts, and ids other than those in the session */
export function storedSequence(turn: TurnRecord): StoredSequence {
  const { itemId, arm } = turn;
  const refuse = (why: string, hint: string): BenchError =>
    new BenchError('not-reproduced', `the turn of item ${itemId}, arm ${arm} cannot be computed again: ${why}`, hint);
  if (turn.state === 'failed') throw refuse('it failed, and has no answer', 'choose a turn that was answered');
  const { prompt, prefill, answer, observed } = turn;
  if (prefill !== null && 'file' in prefill) {
    throw refuse(`its KV came from the file ${prefill.file}`, 'choose a turn whose KV the bench computed');
  }
  const ids = prompt.segments.flatMap(({ tokenIds }) => tokenIds);
  if (dependsOnQuestions(turn)) {
    throw refuse('questions chose the tokens of its KV', 'choose a turn of an arm that evicts by tokens alone');
  }
  if (isRedacted(ids)) throw refuse('its prompt was not stored (--no-text)', 'run the bench again, without --no-text');
  if (hasForeignTokens(turn, ids))
    throw refuse('its token ids differ from those in the session', 'run the bench again');
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

function hasForeignTokens({ prefill, account, observed }: AnsweredTurn, ids: readonly TokenId[]): boolean {
  // A session with shared positions, or with sink tokens in front of blocks, holds other ids than the prompt by design.
  if (account.sharesPositions || keepsSinks(prefill)) return false;
  // With eviction, a cell may hold another token in each head. Its id is unknown, so that hashes differ anyway.
  return prefill?.evicted === undefined
    ? hashIds(ids) !== observed.sequenceSha256
    : observed.firstForeignToken !== null;
}

/** True if the turn's question, or an earlier one, chose the tokens of its memories. */
function dependsOnQuestions({ account, prefill }: AnsweredTurn): boolean {
  return (
    account.repaired !== undefined || (prefill?.evicted !== undefined && seesQuestion(parseEviction(prefill.evicted)))
  );
}

export function memoryIds({ segments }: StoredSequence): string[] {
  return segments.flatMap(({ memoryId }) => memoryId ?? []);
}

/** Splits a sequence where injection ends. @param leftOut memory whose line is removed; labels and header stay */
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
  const memoryIds = blocks.map(({ memoryId }) => memoryId);
  const positions = blocks.map(({ position }) => position);
  return { recipe: parseRecipe(strategy, making), alpha, evict, keptAs, memoryIds, positions };
}
