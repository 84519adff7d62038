import type { GateName, GateNotRun, GateResult } from '../results.ts';
import type { ArmTraits } from '../run/arms.ts';
import type { RunProbes } from '../run/run-probes.ts';
import type { AnsweredTurn, FailedTurn } from '../stored-turn.ts';

/** All that a gate may look at. */
export interface GateInput {
  readonly arms: readonly ArmTraits[];
  readonly answered: readonly AnsweredTurn[];
  readonly failed: readonly FailedTurn[];
  readonly probes: RunProbes;
  readonly seed: number;
  /** The model knows nothing: whether somebody is told a secret cannot be seen from its answers. */
  readonly randomWeights: boolean;
}

/** A gate that was decided, or the reason why these arms, this model or this n cannot decide it. */
export type GateOutcome = GateResult | GateNotRun;

export type Gate = (input: GateInput) => GateOutcome;

export function decided(gate: GateName, held: boolean, evidence: string): GateResult {
  return { gate, held, evidence };
}

export function notRun(gate: GateName, why: string): GateNotRun {
  return { gate, why };
}

/** The turns of one arm by item and repeat. */
export function turnsOf(answered: readonly AnsweredTurn[], arm: string): Map<string, AnsweredTurn> {
  return new Map(answered.filter((turn) => turn.arm === arm).map((turn) => [turnKey(turn), turn]));
}

/** What two arms' turns on one item have in common. */
export function turnKey(turn: { readonly itemId: string; readonly repeat: number }): string {
  return `${turn.itemId}#${turn.repeat}`;
}

/** A few of many, for a line of evidence. */
export function examples(turns: readonly { readonly arm: string; readonly itemId: string }[]): string {
  const shown = turns.slice(0, 3).map((turn) => `${turn.arm} on ${turn.itemId}`);
  return shown.join(', ') + (turns.length > shown.length ? ', …' : '');
}
