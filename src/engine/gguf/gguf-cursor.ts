import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const WINDOW_BYTES = 2 ** 20;

/** An error: the file states more than its length can hold. */
export class CutShort extends Error {}

/** Reads a file from its beginning, little-endian; a length is compared with what is left before anything is read. */
export class GgufCursor implements Disposable {
  readonly sizeBytes: number;
  readonly #file: number;
  #window = Buffer.alloc(0);
  /** Of the next byte, in the window and in the file. */
  #at = 0;
  #position = 0;

  /** @throws NodeJS.ErrnoException where the file cannot be opened */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.sizeBytes = fstatSync(this.#file).size;
  }

  /** Bytes before the next one. */
  get position(): number {
    return this.#position;
  }

  /** @throws CutShort where so many things of that size cannot follow */
  requireSpace(count: number, bytesEach: number): void {
    if (count * bytesEach > this.sizeBytes - this.#position) throw new CutShort();
  }

  /** The next bytes, until the next call. @throws CutShort */
  take(bytes: number): Buffer {
    this.requireSpace(bytes, 1);
    if (this.#at + bytes > this.#window.length) this.#refill(bytes);
    this.#at += bytes;
    this.#position += bytes;
    return this.#window.subarray(this.#at - bytes, this.#at);
  }

  uint32(): number {
    return this.take(4).readUInt32LE();
  }

  /** Beyond 2^53 the nearest number that there is. */
  uint64(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  text(): string {
    return this.take(this.uint64()).toString('utf8');
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #refill(bytes: number): void {
    const window = Buffer.allocUnsafe(Math.max(bytes, Math.min(WINDOW_BYTES, this.sizeBytes - this.#position)));
    let filled = 0;
    while (filled < window.length) {
      const read = readSync(this.#file, window, filled, window.length - filled, this.#position + filled);
      if (read === 0) break;
      filled += read;
    }
    // It may have become shorter meanwhile.
    if (filled < bytes) throw new CutShort();
    this.#window = window.subarray(0, filled);
    this.#at = 0;
  }
}
