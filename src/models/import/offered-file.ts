import type { Readable } from 'node:stream';

/** One file of what a user imports. */
export interface OfferedFile {
  /** Its place in the folder or archive, with `/`; of a single file its name. It is shown and compared, never opened. */
  readonly path: string;
  readonly bytes: number;
  /** As an archive states it. */
  readonly crc32?: number;
  /** @throws BenchError `bad-data` where the archive cannot be read */
  open(): Promise<Readable>;
}

/** A file, a folder or an archive, opened. */
export interface ImportSource extends Disposable {
  /** As the user named it. */
  readonly path: string;
  readonly files: readonly OfferedFile[];
}
