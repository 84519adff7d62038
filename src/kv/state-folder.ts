import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';

const KEY = /^[0-9a-f]{64}$/;
/** `<anything>.<process id>.new`, or what llama.cpp is still writing. */
const UNFINISHED = /\.(\d+)\.(?:new|partial)$/;
const FINGERPRINT_DIGITS_IN_NAME = 16;

const recordSchema = z.object({
  key: z.string().regex(KEY),
  fingerprint: z.string().regex(KEY),
  sizeBytes: z.number().int().nonnegative(),
  tokens: z.number().int().positive(),
  memoryIds: z.array(z.string()),
});

/** What is known of a state without reading it. */
export type StateRecord = Readonly<z.output<typeof recordSchema>>;

/** What is said of a state by whoever keeps it: the tokens that it took to compute, and the memories that it contains. */
export type AboutState = Pick<StateRecord, 'tokens' | 'memoryIds'>;

/** A state that is in its place. */
export interface WrittenState {
  readonly record: StateRecord;
  readonly path: string;
}

/** Paths that nobody reads yet. */
interface Unfinished {
  readonly record: string;
  readonly state: string;
}

/** A state whose bytes were just found to be those that were written. */
export interface VerifiedState extends WrittenState {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The states of one user in one folder, a record beside each. The fingerprint binds the bytes to the record and to the
 * folder, so that neither a damaged state nor one of another user or key is taken for what was kept.
 *
 * Any number of processes may work in it: what is in its place is complete, and a state that another process takes
 * away or replaces between two steps is missing, never half there.
 */
export class StateFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** `damaged` for a state that is not what was written, `missing` where none was, or no longer is. */
  read(key: string): VerifiedState | 'missing' | 'damaged' {
    // A second look, since another process may have replaced the state after the record was read.
    for (let look = 0; look < 2; look++) {
      const record = this.#record(key);
      if (typeof record === 'string') return record;
      const path = this.#statePath(record);
      const bytes = read(path);
      if (bytes === undefined) continue;
      const intact = bytes.length === record.sizeBytes && this.#fingerprint(record, bytes) === record.fingerprint;
      return intact ? { record, path, bytes } : 'damaged';
    }
    return 'damaged';
  }

  /** Keeps what `save` writes to the path that it is given. Nothing is left behind where that fails. */
  async write(key: string, about: AboutState, save: (path: string) => Promise<unknown>): Promise<WrittenState> {
    const unfinished = this.#begin(key);
    try {
      await save(unfinished.state);
      chmodSync(unfinished.state, 0o600);
      return this.#finish(unfinished, key, about, readFileSync(unfinished.state));
    } catch (error) {
      abandon(unfinished);
      throw error;
    }
  }

  /** Keeps the bytes of a state. Nothing is left behind where that fails. */
  writeBytes(key: string, about: AboutState, bytes: Uint8Array): WrittenState {
    const unfinished = this.#begin(key);
    try {
      writeFileSync(unfinished.state, bytes, { mode: 0o600 });
      return this.#finish(unfinished, key, about, bytes);
    } catch (error) {
      abandon(unfinished);
      throw error;
    }
  }

  /** Deletes a state, whatever became of its record. */
  remove(key: string): void {
    rmSync(this.#recordPath(key), { force: true });
    for (const file of this.#files()) {
      if (file.startsWith(`${key}.`) && file.endsWith('.state')) rmSync(join(this.path, file), { force: true });
    }
  }

  /**
   * What the folder holds now, by any process. Deletes what writers left unfinished that were killed.
   * @param known what is known of a key: where its state is still there, and no other of that key, its record is not
   * read again. Who must know which memories it names now gives none: another process may have written it anew.
   */
  records(known: (key: string) => StateRecord | undefined = () => undefined): StateRecord[] {
    const files = this.#files();
    const inWork = new Set(files.filter(isBeingWritten).map(keyOf));
    removeAbandoned(this.path, files);
    const states = new Map<string, string[]>();
    for (const file of files.filter((name) => name.endsWith('.state'))) {
      states.set(keyOf(file), [...(states.get(keyOf(file)) ?? []), file]);
    }
    const records = files
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => {
        const before = known(keyOf(file));
        const [state, ...others] = states.get(keyOf(file)) ?? [];
        const stands = before !== undefined && others.length === 0 && state === basename(this.#statePath(before));
        if (stands) return before;
        const record = this.#record(keyOf(file));
        return typeof record === 'string' ? [] : record;
      });
    const named = new Set(records.map((record) => basename(this.#statePath(record))));
    for (const file of [...states.values()].flat()) {
      if (!named.has(file) && !inWork.has(keyOf(file))) rmSync(join(this.path, file), { force: true });
    }
    return records;
  }

  #begin(key: string): Unfinished {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const suffix = `${randomUUID()}.${process.pid}.new`;
    return { record: `${this.#recordPath(key)}.${suffix}`, state: join(this.path, `${key}.state.${suffix}`) };
  }

  #finish(unfinished: Unfinished, key: string, about: AboutState, bytes: Uint8Array): WrittenState {
    const fingerprint = this.#fingerprint({ key, ...about }, bytes);
    const record: StateRecord = { key, fingerprint, sizeBytes: bytes.length, ...about };
    const path = this.#statePath(record);
    const before = this.#record(key);
    // The record first, unfinished: whoever finds the state without it can tell a killed writer from a living one.
    writeFileSync(unfinished.record, JSON.stringify(record), { mode: 0o600 });
    renameSync(unfinished.state, path);
    renameSync(unfinished.record, this.#recordPath(key));
    if (typeof before !== 'string' && before.fingerprint !== fingerprint) {
      rmSync(this.#statePath(before), { force: true });
    }
    return { record, path };
  }

  /** When a file of it last came or went; 0 for a folder that is not there. */
  changedAtMs(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  #files(): string[] {
    try {
      return readdirSync(this.path);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  #record(key: string): StateRecord | 'missing' | 'damaged' {
    const bytes = read(this.#recordPath(key));
    if (bytes === undefined) return 'missing';
    try {
      const record = recordSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
      return record.key === key ? record : 'damaged';
    } catch {
      return 'damaged';
    }
  }

  #fingerprint({ key, tokens, memoryIds }: Omit<StateRecord, 'fingerprint' | 'sizeBytes'>, bytes: Uint8Array): string {
    const about = JSON.stringify([basename(this.path), key, tokens, memoryIds]);
    return createHash('sha256').update(`${about}\n`).update(bytes).digest('hex');
  }

  #recordPath(key: string): string {
    if (!KEY.test(key)) throw new RangeError(`${JSON.stringify(key)} is no key of a state: sha-256 in hex`);
    return join(this.path, `${key}.json`);
  }

  #statePath({ key, fingerprint }: StateRecord): string {
    return join(this.path, `${key}.${fingerprint.slice(0, FINGERPRINT_DIGITS_IN_NAME)}.state`);
  }
}

/** Deletes those of the files that a process was writing which no longer runs. */
export function removeAbandoned(folder: string, files: readonly string[]): void {
  for (const file of files) {
    if (UNFINISHED.test(file) && !isBeingWritten(file)) rmSync(join(folder, file), { force: true });
  }
}

function abandon({ record, state }: Unfinished): void {
  rmSync(state, { force: true });
  rmSync(record, { force: true });
}

function isBeingWritten(file: string): boolean {
  const process = UNFINISHED.exec(file)?.[1];
  return process !== undefined && isRunning(Number(process));
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // Not ours to signal, and so running.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function keyOf(file: string): string {
  return file.slice(0, file.indexOf('.'));
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function read(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
