import type { CallOptions, EngineSession } from '../../engine/engine-session.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';

/** A gate's decision on one turn. */
export interface GateDecision {
  readonly inject: boolean;
  /** Multiplies the values of injected memories. */
  readonly alpha: number;
  /** Tokens that were evaluated to decide. */
  readonly evaluatedTokens: number;
  /** The factors of the decision, for a reader. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Decides before the prompt is built whether memories go into it, and how strongly they are injected.
 * @param session the turn's own, whose meter counts what the gate evaluates; it may be left in any state
 * @param retrieved best first @param bareTokens gives the ids of the prompt without memories and history
 */
export type TurnGate = (
  session: EngineSession,
  retrieved: readonly MemorySearchResult[],
  bareTokens: () => Promise<readonly TokenId[]>,
  options?: CallOptions,
) => Promise<GateDecision>;
