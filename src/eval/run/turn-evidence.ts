import { createHash } from 'node:crypto';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ScoreDifference } from '../../llm/token-probabilities.ts';
import type { Agreement } from '../metrics/agreement.ts';

/** A token of a given text, and ln p of it behind all that precedes it. */
export interface ScoredToken {
  readonly token: string;
  readonly logProbability: number;
}

/** What a stored turn proves of itself, beside its scores. */
export interface TurnEvidence {
  readonly reuse: 'new' | 'seen' | 'none';
  /** Memories in the sequence that the arm was to inject; 0 for an arm that injects none. */
  readonly injectableMemories: number;
  /** Tokens up to the last of them, by the segments of the prompt: the cells that injection must fill. */
  readonly injectableTokens: number;
  /** Tokens evaluated to build K/V that was not there. */
  readonly builtTokens: number;
  /** Tokens evaluated since the arm's last turn, outside this turn's clock and meter; missing where nothing is done ahead. */
  readonly aheadTokens?: number;
  readonly aheadMs?: number;
  /** Tokens of blocks evaluated again in sight of what precedes them. */
  readonly linkTokens: number;
  /** Tokens evaluated to decide whether to inject. */
  readonly gateTokens: number;
  /** Blocks share positions: the ids read back are then one a position, and not those of the prompt. */
  readonly sharesPositions: boolean;
  /** What the turn had to evaluate, by the account of the hand-over; the meter's count stands in `tokens.evaluated`. */
  readonly expectedEvaluatedTokens: number;
  /** sha-256 of the ids of the prompt, read back from llama.cpp after the turn. */
  readonly sequenceSha256: string;
  readonly sequenceTokens: number;
  /** The first place where the ids read back differ from the prompt's own; null where they agree. */
  readonly firstForeignToken: number | null;
  /** Sum of ln p over the gold answer's tokens. */
  readonly goldLogProbability: number | null;
  /** The terms of that sum, in order; missing in runs of versions that did not keep them. */
  readonly goldTokens?: readonly ScoredToken[];
  /** Against the prompt evaluated as text; null for an arm that claims no such equality. */
  readonly parity: ScoreDifference | null;
  /** The ten likeliest next tokens. */
  readonly nextTokens: readonly { readonly token: string; readonly probability: number }[];
  /** Mean of ln p over the tokens of its own answer, as it stood before the model; null where that was not asked for. */
  readonly freeLogProbability: number | null;
  /** Its next token against that of the reference, or of `rag`; null where neither ran. */
  readonly agreement: Agreement | null;
  /** The gold stands neither in question, history, system prompt nor in what the control was shown. */
  readonly closed: boolean;
}

export function hashOfIds(ids: readonly number[]): string {
  return createHash('sha256').update(Int32Array.from(ids)).digest('hex');
}

/** The first index at which two lists differ, or null. */
export function firstDifference(a: readonly number[], b: readonly number[]): number | null {
  const length = Math.max(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a[index] !== b[index]) return index;
  }
  return null;
}

/** The likeliest next tokens as text. */
export function likeliest(model: LanguageModel, probabilities: Float64Array, count = 10): TurnEvidence['nextTokens'] {
  const best: { id: number; probability: number }[] = [];
  probabilities.forEach((probability, id) => {
    if (best.length === count && probability <= best[count - 1]!.probability) return;
    best.push({ id, probability });
    best.sort((a, b) => b.probability - a.probability);
    best.length = Math.min(best.length, count);
  });
  return best.map(({ id, probability }) => ({ token: model.detokenize([id]), probability }));
}
