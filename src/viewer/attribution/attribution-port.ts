import type { AttributionRecord } from '../../store/records/attribution-record.ts';
import type { TurnRef } from '../links.ts';

/** Computes leave-one-out attributions for the viewer, which itself loads no model and writes no database. */
export interface AttributionPort {
  /**
   * Attributes the answer of a stored turn to its memories, and stores the result in place of an older one.
   * @param onProgress called after each evaluation, the one with all memories included
   * @throws BenchError if the turn cannot be computed again, or differs from the stored one; the reason of `signal`
   */
  compute(
    turn: TurnRef,
    onProgress: (done: number, of: number) => void,
    signal: AbortSignal,
  ): Promise<AttributionRecord>;
}
