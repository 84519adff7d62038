import type { Checkpoint } from '../session-checkpoint.ts';
import type { ParsedState } from './state-file.ts';
import { MemoryFile } from './memory-file.ts';

/** Contents of a KV file except its keys and values. */
export type StateHeader = Pick<ParsedState, 'tokens' | 'positions' | 'tensors'>;

interface StoredCopy {
  readonly file: MemoryFile;
  readonly header: StateHeader;
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
  readonly #copy = new Map<string, StoredCopy>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Stores a copy of verified bytes, if there is space. @param fileIdentity identity of the file before it was read */
  store({ id, sha256 }: Checkpoint, fileIdentity: string, content: Uint8Array, header: StateHeader): void {
    this.delete(id);
    const sizeBytes = content.length;
    if (sizeBytes > this.#maxBytes) return;
    for (const oldest of this.#copy.keys()) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
    const file = MemoryFile.create();
    if (file?.write([content]) !== true) return file?.[Symbol.dispose]();
    // Copies fields, since the argument may also hold views that keep the whole file in memory.
    const { tokens, positions, tensors } = header;
    this.#copy.set(id, { file, header: { tokens, positions, tensors }, sha256, fileIdentity });
    this.#sizeBytes += sizeBytes;
  }

  /** Returns a copy, readable until disposed. @param fileIdentity current identity of the file; the copy is dropped if it differs */
  find(
    { id, sha256, bytes }: Checkpoint,
    fileIdentity: string | undefined,
  ): (Disposable & { readonly header: StateHeader; readonly path: string }) | undefined {
    const copy = this.#copy.get(id);
    if (copy === undefined) return undefined;
    if (copy.sha256 !== sha256 || copy.file.sizeBytes !== bytes || copy.fileIdentity !== fileIdentity) {
      this.delete(id);
      return undefined;
    }
    this.#copy.delete(id);
    this.#copy.set(id, copy);
    return { header: copy.header, ...copy.file.open() };
  }

  delete(id: string): void {
    const copy = this.#copy.get(id);
    if (copy === undefined) return;
    this.#copy.delete(id);
    this.#sizeBytes -= copy.file.sizeBytes;
    copy.file[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#copy.keys()]) this.delete(id);
  }
}
