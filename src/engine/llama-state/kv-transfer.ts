import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import { diskErrorHint } from '../../base/disk-error-hint.ts';
import { readLargeFile } from '../../base/read-remove-rename-files.ts';
import type { Checkpoint, ReadTimes } from '../engine-session.ts';
import {
  type KvLayout,
  type SequenceState,
  SessionCells,
  keyRowBytes,
  ownedState,
  requireSpace,
  sameLayout,
  valueRowBytes,
  type Window,
} from '../sequence-state.ts';
import { hasFiniteNumbers } from '../finite-numbers.ts';
import { type TokenRange, UNKNOWN_TOKEN } from '../token-id.ts';
import {
  type CheckpointFolder,
  type CheckpointMemory,
  createMemoryFile,
  type MemoryFile,
  type StateHeader,
} from './checkpoint-storage.ts';
import {
  type FileCells,
  fileTensors,
  gatherCells,
  type FileTensors,
  parseState,
  parseStateTokens,
  PLACEHOLDER_TOKEN,
  type StateForm,
  stateParts,
  writeParts,
} from './state-file.ts';

/** A llama.cpp sequence, in this process or on a server, whose KV can be saved to and loaded from files. */
export interface SavableSequence {
  /** Writes tokens and KV to a new file. @returns its size in bytes @throws Error if it could not be written completely */
  save(path: string): Promise<number>;
  /**
   * Replaces tokens and KV by those in a file. The caller has checked its layout and length.
   * @throws BenchError `bad-state` if llama.cpp refuses it; the sequence is empty then
   */
  load(path: string): Promise<void>;
  /** Erases everything from a position on. */
  truncate(position: number): Promise<void>;
}

/** What an adapter says about a session and the KV files of its engine. */
export interface SessionKv {
  readonly sequence: SavableSequence;
  readonly cells: SessionCells;
  /** Null if the cells are not known: then files are saved and restored whole. */
  readonly layout: KvLayout | null;
  readonly window: Window;
  /** Sequences in the context; a KV file states their number. */
  readonly sequences: number;
  readonly form: StateForm;
  /** Layers with a sliding window; none if their cells are not known. */
  readonly windowed: readonly number[];
  readonly stateIdentity: string;
}

interface KvTransferParts extends SessionKv {
  readonly checkpoints: CheckpointFolder;
  /** In-memory copies of checkpoints; null if another process reads the files. */
  readonly memory: CheckpointMemory | null;
  /** Temporary file of this session, in a private folder. */
  readonly scratchPath: string;
}

/** Imports, exports, saves and restores the KV of a session. All of it goes through files, because llama.cpp offers nothing else. */
export class KvTransfer implements Disposable {
  readonly #parts: KvTransferParts;
  /** Reused for cells being imported, if llama.cpp runs in this process and can read it. */
  #incoming: MemoryFile | undefined;

  constructor(parts: KvTransferParts) {
    this.#parts = parts;
  }

  /** Copies cells in the order in which they were added. @throws BenchError `bad-state`, `disk` */
  async export({ start, end }: TokenRange): Promise<SequenceState> {
    const layout = this.#layout();
    const tokenIds = Int32Array.from(this.#parts.cells.tokenIds.slice(start, end));
    const { positions, keys, values } = tokenIds.length === 0 ? noCells(layout) : await this.#saved(layout, start, end);
    return ownedState({ layout, tokenIds, positions, keys, values });
  }

  /** Replaces the session by cells. @throws BenchError `bad-state`, `context-overflow`, `disk` */
  async import(state: SequenceState): Promise<void> {
    const { sequences: streams, form, windowed } = this.#parts;
    const layout = this.#layout();
    requireImportable(state, layout);
    const cells = this.#fitting(state.positions, state.tokenIds);
    if (cells.count === 0) return this.#clear();
    requireFiniteNumbers(state);
    const { positions, keys, values } = state;
    const file = { positions, keys, values, tensors: fileTensors(layout) };
    await this.#loadParts(stateParts(file, cells.tokensByPosition(), { ...form, streams, windowed }), cells);
  }

  /** @throws RangeError for an empty session @throws BenchError `disk` */
  async checkpoint(id: string = randomUUID()): Promise<Checkpoint> {
    const { cells, checkpoints, sequence, stateIdentity } = this.#parts;
    if (cells.count === 0) throw new RangeError('an empty session has no state to save');
    const tokens = cells.tokensByPosition();
    const { content, ...written } = await checkpoints.write(id, (path) => sequence.save(path));
    const checkpoint: Checkpoint = { id, tokens, ...written, stateIdentity };
    this.#storeCopy(checkpoint, content);
    return checkpoint;
  }

  /** Replaces the session by a saved one. @param spent times to add to @throws BenchError `bad-state`, `context-overflow` */
  async restore(checkpoint: Checkpoint, spent?: ReadTimes): Promise<void> {
    const { sequences, stateIdentity, layout, windowed, checkpoints, memory } = this.#parts;
    if (checkpoint.stateIdentity !== stateIdentity) {
      throw unusable(`made by ${checkpoint.stateIdentity}, but this engine is ${stateIdentity}`);
    }
    using copy = memory?.find(checkpoint, checkpoints.identity(checkpoint.id));
    if (copy !== undefined) {
      await this.#load(copy.path, this.#cellsIn(copy.header, checkpoint, copy.path));
      return;
    }
    const { path, bytes, identity } = checkpoints.read(checkpoint, spent);
    if (layout === null) {
      const file = wholeFile(bytes, path);
      await this.#load(path, this.#cellsIn(file, checkpoint, path));
      if (identity !== undefined) memory?.store(checkpoint, identity, bytes, file);
      return;
    }
    const file = parseState(bytes, path, windowed);
    const cells = this.#cellsIn(file, checkpoint, path);
    requireFiniteNumbers({ ...file, layout }, path);
    if (file.streams !== sequences) {
      await this.#loadParts(stateParts(file, file.tokens, { ...file.form, streams: sequences, windowed }), cells);
      return;
    }
    await this.#load(path, cells);
    if (identity !== undefined) memory?.store(checkpoint, identity, bytes, file);
  }

  [Symbol.dispose](): void {
    this.#incoming?.[Symbol.dispose]();
    this.#incoming = undefined;
  }

  #layout(): KvLayout {
    const { layout } = this.#parts;
    if (layout === null) throw new Error('cells moved, though the engine has no capability cells');
    return layout;
  }

  async #saved(layout: KvLayout, start: number, end: number): Promise<FileCells> {
    const { scratchPath, sequence, cells, windowed } = this.#parts;
    try {
      await sequence.save(scratchPath).catch((cause: unknown) => {
        throw cause instanceof BenchError ? cause : notStored(scratchPath, cause);
      });
      const file = parseState(readState(scratchPath), scratchPath, windowed);
      requireOrderOfValues(file.tensors, scratchPath, layout);
      return gatherCells(file, orderOfArrival(file.positions, cells.positions).slice(start, end));
    } finally {
      rmSync(scratchPath, { force: true });
    }
  }

  /** Stores an in-memory copy of a checkpoint just written, if it is valid. */
  #storeCopy(checkpoint: Checkpoint, content: Uint8Array<ArrayBuffer>): void {
    const { memory, checkpoints, layout, sequences, windowed } = this.#parts;
    if (layout === null) return;
    const identity = checkpoints.identity(checkpoint.id);
    if (memory === null || identity === undefined) return;
    try {
      const file = parseState(content, checkpoint.id, windowed);
      requireFileOf(file, checkpoint.id, layout);
      requireTokensOf(file, checkpoint, checkpoint.id);
      if (file.streams !== sequences || !hasFiniteNumbers({ ...file, layout })) return;
      memory.store(checkpoint, identity, content, file);
    } catch (error) {
      // An invalid checkpoint is reported by `restore`.
      if (!(error instanceof BenchError)) throw error;
    }
  }

  /** Cells of a checkpoint file. Tokens of shared positions are unknown. */
  #cellsIn(file: StateHeader, checkpoint: Checkpoint, path: string): SessionCells {
    const { layout } = this.#parts;
    if (layout !== null) requireFileOf(file, path, layout);
    requireTokensOf(file, checkpoint, path);
    const { positions } = file;
    return this.#fitting(
      positions,
      positions.map((position) => checkpoint.tokens[position] ?? UNKNOWN_TOKEN),
    );
  }

  #fitting(positions: Int32Array, tokens: Int32Array): SessionCells {
    const cells = new SessionCells();
    cells.load(positions, tokens);
    requireSpace(this.#parts.window, cells.count, cells.nextPosition, 1);
    return cells;
  }

  async #load(path: string, { positions, tokenIds }: SessionCells): Promise<void> {
    await this.#clear();
    await this.#parts.sequence.load(path);
    this.#parts.cells.load(positions, tokenIds);
  }

  async #clear(): Promise<void> {
    if (this.#parts.cells.nextPosition > 0) await this.#parts.sequence.truncate(0);
    this.#parts.cells.load([], []);
  }

  /** Loads the parts of a KV file through memory if possible, else through the temporary file. */
  async #loadParts(parts: readonly Uint8Array[], cells: SessionCells): Promise<void> {
    const { scratchPath, memory } = this.#parts;
    if (memory !== null) this.#incoming ??= createMemoryFile();
    if (this.#incoming?.write(parts) === true) {
      using file = this.#incoming.open();
      await this.#load(file.path, cells);
      return;
    }
    try {
      writeParts(scratchPath, parts);
    } catch (cause) {
      rmSync(scratchPath, { force: true });
      throw notStored(scratchPath, cause);
    }
    await this.#load(scratchPath, cells).finally(() => rmSync(scratchPath, { force: true }));
  }
}

function noCells(layout: KvLayout): FileCells {
  const none = Array.from({ length: layout.layers }, () => new Uint8Array(0));
  return { positions: new Int32Array(0), keys: none, values: none, tensors: fileTensors(layout) };
}

/**
 * Index in the file of each cell, in the order in which cells were added. Orders differ because llama.cpp reuses the place of
 * erased cells. Cells that share a position were imported together and have the same order in both.
 * @throws BenchError `bad-state` if the file has other cells
 */
function orderOfArrival(saved: Int32Array, positions: readonly number[]): number[] {
  const places = Map.groupBy(saved.keys(), (place) => saved[place]!);
  return positions.map((position) => {
    const place = places.get(position)?.shift();
    if (place === undefined) throw unusable(`llama.cpp saved no cell for position ${position}`);
    return place;
  });
}

function requireImportable({ layout, positions, tokenIds, keys, values }: SequenceState, own: KvLayout): void {
  if (!sameLayout(layout, own)) throw unusable('its layout differs from that of this model and KV type');
  const cells = positions.length;
  const wrongSize = (tensors: readonly Uint8Array[], rowBytes: number): boolean =>
    tensors.length !== own.layers || tensors.some(({ length }) => length !== cells * rowBytes);
  if (tokenIds.length !== cells || wrongSize(keys, keyRowBytes(own)) || wrongSize(values, valueRowBytes(own))) {
    throw unusable(`its arrays do not hold ${cells} cells in ${own.layers} layers`);
  }
  const negative = positions.find((position) => position < 0);
  if (negative !== undefined) throw unusable(`a cell has the position ${negative}, which llama.cpp would ignore`);
}

/** A file of unknown cells, one for each token. Its bytes are those that llama.cpp saved: the checkpoint has their hash. */
function wholeFile(bytes: Uint8Array<ArrayBuffer>, path: string): StateHeader {
  const tokens = parseStateTokens(bytes, path);
  return { tokens, positions: Int32Array.from(tokens.keys()), tensors: null };
}

/** @throws BenchError `bad-state` if a file does not belong to the model */
function requireFileOf({ tensors: found }: StateHeader, path: string, layout: KvLayout): void {
  if (found === null) throw unusable('its cells are not known', path);
  requireOrderOfValues(found, path, layout);
  const own = fileTensors(layout);
  if (found.layers !== own.layers) throw unusable(`it has ${found.layers} layers, the model has ${own.layers}`, path);
  for (const [what, type, rowBytes] of [
    ['keys', 'keyType', 'keyRowBytes'],
    ['values', 'valueType', 'valueRowBytes'],
  ] as const) {
    if (found[type] === own[type] && found[rowBytes] === own[rowBytes]) continue;
    throw unusable(`the ${what} of layer 0 have another layout`, path);
  }
}

/** @throws BenchError `bad-state` if a file has other tokens than its checkpoint */
function requireTokensOf(file: StateHeader, { tokens }: Checkpoint, path: string): void {
  const listed = tokens.map((token) => (token === UNKNOWN_TOKEN ? PLACEHOLDER_TOKEN : token));
  const same = listed.length === file.tokens.length && listed.every((token, index) => token === file.tokens[index]);
  if (!same) throw unusable('its tokens differ from those of the checkpoint', path);
}

/** The order of values tells if flash attention was on. */
function requireOrderOfValues(tensors: FileTensors, path: string, own: KvLayout): void {
  if (tensors.valuesTransposed === own.valuesTransposed) return;
  throw unusable(`made ${tensors.valuesTransposed ? 'without' : 'with'} flash attention`, path);
}

/** Must run before llama.cpp loads the numbers: infinities would stay in its memory even after erasing. @throws BenchError `bad-state` */
function requireFiniteNumbers(state: Parameters<typeof hasFiniteNumbers>[0], name?: string): void {
  if (!hasFiniteNumbers(state)) throw unusable('it has keys or values that are not finite numbers', name);
}

function unusable(why: string, name = 'KV state'): BenchError {
  return new BenchError('bad-state', `${name}: unusable KV state: ${why}`, 'it will be computed again');
}

/** @throws BenchError `disk` */
function readState(path: string) {
  try {
    return readLargeFile(path);
  } catch (cause) {
    throw notStored(path, cause, 'read');
  }
}

function notStored(path: string, cause: unknown, done = 'written'): BenchError {
  const hint = `${diskErrorHint(cause, dirname(path))}, or name another folder: TMPDIR`;
  return new BenchError('disk', `${path}: the KV state could not be ${done}`, hint, cause);
}
