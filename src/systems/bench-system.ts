import type { ModelSequence } from '../llm/model-sequence.ts';
import type { MemorySystem } from './contracts.ts';
import type { MemoryToCome } from './lines-to-come.ts';

/** What the bench needs of a system beyond answering. */
export interface BenchSystem extends MemorySystem, AsyncDisposable {
  /**
   * Brings another sequence to where the generation of the last turn began, by the same way, and gives
   * the tokens that are still to be evaluated there. Counted in no meter of the system.
   */
  replay(sequence: ModelSequence): Promise<readonly number[]>;
  /** Deletes all K/V that contains a memory of the user before it returns, and gives how many kept entries that were. */
  forgetMemory(userId: string, memoryId: string): number;
  /**
   * Tells which memories of a user there are before a turn is asked for: what can be computed of them ahead is, outside
   * the turn's clock and meter, and the next response says what that took. Missing where nothing is done ahead.
   */
  prepare?(userId: string, memories: readonly MemoryToCome[]): Promise<void>;
  /** Drops the K/V that was kept so far. */
  reset(): void;
}
