import type { Checkpoint } from '../session-checkpoint.ts';
import type { ParsedState } from './state-file.ts';
import { MemoryFile } from './memory-file.ts';

/** Contents of a KV file except its keys and values. */
export type StateHead = Pick<ParsedState, 'tokens' | 'positions' | 'tensors'>;

interface Kept {
  readonly file: MemoryFile;
  readonly head: StateHead;
  readonly sha256: string | null;
  readonly fileIdentity: string;
}

/**
 * Private in-memory copies of verified checkpoint files, to restore without reading, hashing and checking them again. A copy is
 * dropped if its file on disk is gone or was touched since. Limited in bytes; evicts the least recently used.
 */
export class CheckpointMemory implements Disposable {
  readonly #maxBytes: number;
  /** By checkpoint id, least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Stores a copy of verified bytes, if there is space. @param fileIdentity identity of the file before it was read */
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
    // Copies fields, since the argument may also hold views that keep the whole file in memory.
    const { tokens, positions, tensors } = head;
    this.#kept.set(id, { file, head: { tokens, positions, tensors }, sha256, fileIdentity });
    this.#sizeBytes += sizeBytes;
  }

  /** Returns a copy, readable until disposed. @param fileIdentity current identity of the file; the copy is dropped if it differs */
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
