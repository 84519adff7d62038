import { copyFileSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { BenchError } from '../config/bench-error.ts';
import { type KvCells, parseSequenceState } from '../kv/sequence-state.ts';
import type { StateStore } from '../kv/state-store.ts';
import type { ModelSequence } from '../llm/model-sequence.ts';

/** A private file in the folder of a store, through which edited K/V goes into a sequence and comes out of it. */
export class ScratchState {
  readonly path: string;

  constructor(store: StateStore) {
    this.path = store.scratchPath();
  }

  /** Puts the bytes of a state into the file. @throws BenchError `disk` */
  write(bytes: Uint8Array): void {
    try {
      // A file that is there keeps its mode, and may be one that llama.cpp made.
      this.delete();
      writeFileSync(this.path, bytes, { mode: 0o600 });
    } catch (cause) {
      throw new BenchError(
        'disk',
        `${this.path}: the joined K/V could not be written`,
        'free some space or name another folder: --kv-store DIR',
        cause,
      );
    }
  }

  /**
   * Makes the file another name of a state that a store keeps, so that it stays whatever the store or another process
   * does with its own name; a copy where the file system has no second names. False where the state is gone.
   */
  took(path: string): boolean {
    this.delete();
    for (const take of [linkSync, copyFileSync]) {
      try {
        take(path, this.path);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      }
    }
    throw new BenchError(
      'disk',
      `${this.path}: the K/V state of a turn could not be put there`,
      'free some space or name another folder: --kv-store DIR',
    );
  }

  /** Replaces a sequence by what is in the file, which holds nothing afterwards. */
  async load(sequence: ModelSequence): Promise<void> {
    try {
      await sequence.clear();
      await sequence.loadState(this.path);
    } finally {
      this.delete();
    }
  }

  /** The cells of a sequence, copied out by way of the file, which holds nothing afterwards. */
  async cellsOf(sequence: ModelSequence): Promise<KvCells> {
    try {
      await sequence.saveState(this.path);
      return parseSequenceState(readFileSync(this.path), this.path).cells;
    } finally {
      this.delete();
    }
  }

  delete(): void {
    rmSync(this.path, { force: true });
  }
}
