import type { Checkpoint } from '../session-checkpoint.ts';
import type { ParsedState } from './state-file.ts';
import { MemoryFile } from './memory-file.ts';

/** All that was read of a state but its keys and values. */
export type StateHead = Pick<ParsedState, 'tokens' | 'positions' | 'tensors'>;

interface Kept {
  readonly file: MemoryFile;
  readonly head: StateHead;
  readonly sha256: string | null;
  readonly fileIdentity: string;
}

/**
 * Private copies of checkpoints in memory, made of verified bytes, which are loaded without being read, hashed and checked
 * again. A file that is gone or was touched since is read from disk. Bounded by bytes: the longest unused go first.
 */
export class CheckpointMemory implements Disposable {
  readonly #maxBytes: number;
  /** By id, in the order of use: the last was used last. */
  readonly #kept = new Map<string, Kept>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Stores a copy of verified bytes, if there is space. @param fileIdentity of the file on disk, when it was read */
  keep({ id, sha256 }: Checkpoint, fileIdentity: string, content: Uint8Array, head: StateHead): void {
    this.forget(id);
    const sizeBytes = content.length;
    if (sizeBytes > this.#maxBytes) return;
    for (const oldest of this.#kept.keys()) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) break;
      this.forget(oldest);
    }
    const file = MemoryFile.create();
    if (file?.write([content]) !== true) return file?.[Symbol.dispose]();
    // Of what was parsed, nothing that keeps all of its bytes alive.
    const { tokens, positions, tensors } = head;
    this.#kept.set(id, { file, head: { tokens, positions, tensors }, sha256, fileIdentity });
    this.#sizeBytes += sizeBytes;
  }

  /** The copy of a checkpoint, until it is disposed of. @param fileIdentity of the file on disk now: another drops the copy */
  find(
    { id, sha256, bytes }: Checkpoint,
    fileIdentity: string | undefined,
  ): (Disposable & { readonly head: StateHead; readonly path: string }) | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    if (kept.sha256 !== sha256 || kept.file.sizeBytes !== bytes || kept.fileIdentity !== fileIdentity) {
      this.forget(id);
      return undefined;
    }
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return { head: kept.head, ...kept.file.open() };
  }

  forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#sizeBytes -= kept.file.sizeBytes;
    kept.file[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#kept.keys()]) this.forget(id);
  }
}
