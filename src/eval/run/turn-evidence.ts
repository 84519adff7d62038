import { createHash } from 'node:crypto';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';

/** Next-token probabilities after the prompt, and ln p of each token of the gold answer. */
export interface TeacherForced {
  readonly nextProbabilities: Float64Array;
  readonly goldLogProbabilities: readonly number[];
}

/** Where two evaluations of one token sequence differ. */
export interface ParityEvidence {
  readonly bitwiseEqual: boolean;
  /** Largest difference in ln p where p ≥ 1e-6, over the next token and the gold tokens. */
  readonly largestDifference: number;
}

/** What a stored turn proves of itself, beside its scores. */
export interface TurnEvidence {
  readonly reuse: 'new' | 'seen' | 'none';
  /** What the turn had to evaluate, by the account of the hand-over; the meter's count stands in `tokens.evaluated`. */
  readonly expectedEvaluatedTokens: number;
  /** sha-256 of the ids of the prompt, read back from llama.cpp after the turn. */
  readonly sequenceSha256: string;
  readonly sequenceTokens: number;
  /** The first place where the ids read back differ from the prompt's own; null where they agree. */
  readonly firstForeignToken: number | null;
  /** Sum of ln p over the gold answer's tokens. */
  readonly goldLogProbability: number | null;
  /** Against the prompt evaluated as text; null for an arm that claims no such equality. */
  readonly parity: ParityEvidence | null;
  /** The ten likeliest next tokens. */
  readonly nextTokens: readonly { readonly token: string; readonly probability: number }[];
  /** The gold stands neither in question, history, system prompt nor in what the control was shown. */
  readonly closed: boolean;
}

const RELEVANT_PROBABILITY = 1e-6;

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

/** Compares two evaluations bit by bit, and in ln p. */
export function compareEvaluations(a: TeacherForced, b: TeacherForced): ParityEvidence {
  let bitwiseEqual = a.goldLogProbabilities.length === b.goldLogProbabilities.length;
  let largestDifference = 0;
  a.nextProbabilities.forEach((p, token) => {
    const q = b.nextProbabilities[token] ?? 0;
    if (Object.is(p, q)) return;
    bitwiseEqual = false;
    if (Math.max(p, q) >= RELEVANT_PROBABILITY) {
      largestDifference = Math.max(largestDifference, Math.abs(Math.log(p) - Math.log(q)));
    }
  });
  a.goldLogProbabilities.forEach((p, index) => {
    const q = b.goldLogProbabilities[index] ?? -Infinity;
    if (Object.is(p, q)) return;
    bitwiseEqual = false;
    largestDifference = Math.max(largestDifference, Math.abs(p - q));
  });
  return { bitwiseEqual, largestDifference };
}

/** Scores a gold answer where the sequence stands, by teacher forcing. */
export async function teacherForced(
  sequence: ModelSequence,
  rest: readonly number[],
  goldIds: readonly number[],
): Promise<TeacherForced> {
  const { nextProbabilities, logProbabilities } = await sequence.score(rest, goldIds);
  return { nextProbabilities, goldLogProbabilities: logProbabilities };
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
