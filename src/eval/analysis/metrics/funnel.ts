import type { FunnelStage } from '../../../store/records/turn-record.ts';

/** Places of the memories that answer an item, from the store to the prompt. */
export interface EvidencePath {
  readonly evidence: readonly string[];
  readonly stored: readonly string[];
  /** In rank order. */
  readonly retrieved: readonly string[];
  /** Selected within the budget. */
  readonly kept: readonly string[];
  /** Present in the sequence that the model evaluated. */
  readonly inSequence: readonly string[];
  /** The answer is right. */
  readonly answered: boolean;
}

/** The stages that an item passed. */
export interface FunnelResult {
  /** The first stage that failed; null if the item was answered. */
  readonly failedStage: FunnelStage | null;
  /** Stages passed, in order, up to the first failure. */
  readonly passed: readonly FunnelStage[];
  /** Rank, from 1, of the evidence that was retrieved last; null if some was not retrieved or none is needed. */
  readonly rank: number | null;
}

/**
 * Follows the evidence of an answerable item: stored → retrieved → kept → in the sequence → answered. A stage is passed
 * when every piece of evidence passes it; an item without evidence, which the history answers, passes all but the last
 * freely; of an item whose evidence is unknown nothing can be followed. An answer that is right in spite of a failed stage keeps that stage: the model guessed or knew.
 */
export function followEvidence(path: EvidencePath): FunnelResult {
  const all = (ids: readonly string[]): boolean => path.evidence.every((id) => ids.includes(id));
  const stages: readonly (readonly [FunnelStage, boolean])[] = [
    ['stored', all(path.stored)],
    ['retrieved', all(path.retrieved)],
    ['kept', all(path.kept)],
    ['sequence', all(path.inSequence)],
    ['answered', path.answered],
  ];
  const failed = stages.findIndex(([, held]) => !held);
  const passed = (failed === -1 ? stages : stages.slice(0, failed)).map(([stage]) => stage);
  const ranks = path.evidence.map((id) => path.retrieved.indexOf(id) + 1);
  return {
    failedStage: failed === -1 ? null : stages[failed]![0],
    passed,
    rank: ranks.length === 0 || ranks.includes(0) ? null : Math.max(...ranks),
  };
}
