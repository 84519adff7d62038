import type { Checkpoint } from '../checkpoint.ts';
import { MemoryFile } from './memory-file.ts';
import type { ParsedState } from './state-file.ts';

/** All that was read of a state but its keys and values. */
export type StateHead = Pick<ParsedState, 'tokens' | 'positions' | 'tensors'>;

interface Kept {
  readonly file: MemoryFile;
  readonly head: StateHead;
  readonly sha256: string | null;
  /** Of the file on disk, when its bytes were verified. */
  readonly fileIdentity: string;
}

/**
 * Copies of checkpoints in memory that nobody else can change, made of bytes that were verified: they are loaded without being read,
 * hashed and looked through again. What is loaded from here is always what was verified; a file on disk that is gone or
 * was touched since sends the reader back to the disk. Bounded by bytes: the longest unused go first.
 */
export class VerifiedStates implements Disposable {
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

  /**
   * Keeps a copy of verified bytes, if there is space for one.
   * @param fileIdentity of the file on disk, when its bytes were read
   */
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

  /**
   * The copy of a checkpoint whose file is the one that was verified, until it is disposed of; any other copy is given up.
   * @param fileIdentity of the file on disk now; undefined where there is none
   */
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

  /** Gives a copy up. */
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
