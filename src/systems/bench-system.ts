import type { ModelSequence } from '../llm/model-sequence.ts';
import type { MemorySystem } from './contracts.ts';

/** What the bench needs of a system beyond answering. */
export interface BenchSystem extends MemorySystem, AsyncDisposable {
  /**
   * Brings another sequence to where the generation of the last turn began, by the same way, and gives
   * the tokens that are still to be evaluated there. Counted in no meter of the system.
   */
  replay(sequence: ModelSequence): Promise<readonly number[]>;
  /** Drops the K/V that was kept so far. */
  reset(): void;
}
