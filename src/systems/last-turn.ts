import type { ModelSequence } from '../llm/model-sequence.ts';
import type { ScratchState } from './scratch-state.ts';

interface Injected {
  readonly userId: string;
  readonly memoryIds: readonly string[];
}

/** What a turn injected, until the next turn: for replaying it from the very file that it loaded. */
export class LastTurn {
  readonly #scratch: ScratchState;
  #injected: Injected | undefined;
  #suffix: readonly number[] = [];

  /** @param scratch for states that are made for one turn */
  constructor(scratch: ScratchState) {
    this.#scratch = scratch;
  }

  /** @param bytes the state in front of the suffix, made for this turn */
  wasInjected(bytes: Uint8Array, suffix: readonly number[], userId: string, memoryIds: readonly string[]): void {
    this.#scratch.write(bytes);
    this.#injected = { userId, memoryIds };
    this.#suffix = suffix;
  }

  /**
   * Takes over a state that a store keeps; false where another process has deleted it since it was found.
   * @param path the state in front of the suffix
   */
  tookKept(path: string, suffix: readonly number[], userId: string, memoryIds: readonly string[]): boolean {
    if (!this.#scratch.took(path)) return false;
    this.#injected = { userId, memoryIds };
    this.#suffix = suffix;
    return true;
  }

  /** The next turn injects what the last one did, in front of another suffix. */
  goesOn(suffix: readonly number[]): void {
    this.#suffix = suffix;
  }

  wasText(tokenIds: readonly number[]): void {
    this.forgetAll();
    this.#suffix = tokenIds;
  }

  /** Replaces a sequence by what was injected. */
  async load(sequence: ModelSequence): Promise<void> {
    await sequence.clear();
    if (this.#injected !== undefined) await sequence.loadState(this.#scratch.path);
  }

  /** Loads, and gives the tokens that are still to be evaluated. */
  async replay(sequence: ModelSequence): Promise<readonly number[]> {
    await this.load(sequence);
    return this.#suffix;
  }

  forget(userId: string, memoryId: string): void {
    if (this.#injected?.userId === userId && this.#injected.memoryIds.includes(memoryId)) this.forgetAll();
  }

  forgetAll(): void {
    this.#scratch.delete();
    this.#injected = undefined;
    this.#suffix = [];
  }
}
