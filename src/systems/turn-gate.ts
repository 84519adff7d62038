import type { ModelSequence } from '../llm/model-sequence.ts';
import type { MemorySearchResult } from '../memory/memory-search-result.ts';

/** Whether the recalled memories go into the prompt, how strongly, and what finding that out took. */
export interface GateDecision {
  readonly inject: boolean;
  /** Multiplies the values of injected memories. */
  readonly alpha: number;
  /** Tokens that were evaluated to decide. */
  readonly evaluatedTokens: number;
  /** What the decision rests on, for the log. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Decides before the prompt is made.
 * @param sequence the arm's own, so that its meter counts what the gate evaluates; it may be left in any state
 * @param recalled best first @param bareTokens the ids of the prompt without memories and history
 */
export type TurnGate = (
  sequence: ModelSequence,
  recalled: readonly MemorySearchResult[],
  bareTokens: () => readonly number[],
) => Promise<GateDecision>;
