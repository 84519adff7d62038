import type { Influence } from '../db/influence-repository.ts';
import type { TurnRef } from './links.ts';

export type { Influence };

/** Computes influences for the viewer, which itself loads no model and writes no database. */
export interface InfluencePort {
  /**
   * Computes the influence of each memory of a stored turn and stores it in place of an older one.
   * @param onProgress told after each evaluation, the one with all memories included
   * @throws BenchError where the turn cannot be computed again, or comes out other than stored; the reason of `signal`
   */
  compute(turn: TurnRef, onProgress: (done: number, of: number) => void, signal: AbortSignal): Promise<Influence>;
}
