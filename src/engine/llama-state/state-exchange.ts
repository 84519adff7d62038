import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { hasFiniteNumbers } from '../finite-numbers.ts';
import type { KvLayout, SequenceState } from '../sequence-state.ts';
import { type TokenRange, UNKNOWN_TOKEN } from '../token-id.ts';
import { requireSpace, type Window } from '../engine-info.ts';
import type { CheckpointFolder } from './checkpoint-folder.ts';
import { MemoryFile } from './memory-file.ts';
import { readSavedCells } from './saved-cells.ts';
import { SessionCells } from '../session-cells.ts';
import { requireFiniteNumbers, requireFileOf, requireImportable, unusable } from './state-checks.ts';
import { type FileCells, type ParsedState, parseState, stateParts, withStreams, writeParts } from './state-file.ts';
import type { StateForm } from './state-layout.ts';
import type { VerifiedStates } from './verified-states.ts';

/** A sequence of llama.cpp, wherever it runs. */
export interface StateCarrier {
  /** Writes tokens and K/V to a new file. @returns its size in bytes @throws Error where it could not be written completely */
  save(path: string): Promise<number>;
  /**
   * Replaces tokens and K/V by those of a file, whose layout and length are checked already.
   * @throws BenchError `bad-state` where llama.cpp refuses it; the sequence is empty then
   */
  load(path: string): Promise<void>;
  /** Erases everything from a position on. */
  truncate(position: number): Promise<void>;
}

/** A session as far as its K/V goes in and out of it. */
export interface ExchangedSession {
  readonly sequence: StateCarrier;
  readonly cells: SessionCells;
}

/** Properties that all states of one engine share. */
export interface ExchangeOptions {
  readonly layout: KvLayout;
  readonly window: Window;
  /** Sequences of the context: a state file says for how many it was made. */
  readonly sequences: number;
  /** As the engine's build writes states. */
  readonly form: StateForm;
  readonly stateIdentity: string;
  readonly checkpoints: CheckpointFolder;
  /** Copies of checkpoints in the memory of this process; null where a sequence reads its files in another process. */
  readonly verified: VerifiedStates | null;
  /** A file of this session alone, in a private folder. */
  readonly scratchPath: string;
}

/** Moves K/V between a session and files. llama.cpp reads and writes files alone. */
export class StateExchange implements Disposable {
  readonly #session: ExchangedSession;
  readonly #options: ExchangeOptions;
  /** Holds cells on their way into the session, where it can read them from there. */
  #incoming: MemoryFile | undefined;

  constructor(session: ExchangedSession, options: ExchangeOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Cells in the order in which they came into the session. @throws BenchError `disk` */
  async export(range: TokenRange): Promise<SequenceState> {
    const { scratchPath, layout } = this.#options;
    const { cells } = this.#session;
    const tokenIds = Int32Array.from(cells.tokenIds.slice(range.start, range.end));
    if (tokenIds.length === 0) return { layout, tokenIds, ...emptyCells(layout), [Symbol.dispose]: nothing };
    const saved = await this.#throughScratch(async () => {
      await this.#save(scratchPath);
      return readSavedCells(scratchPath, layout, cells.positions, range);
    });
    return { layout, tokenIds, ...saved, [Symbol.dispose]: nothing };
  }

  /** Replaces the session by cells. @throws BenchError `bad-state`, `context-overflow`, `disk` */
  async import(state: SequenceState): Promise<void> {
    const { layout, window, sequences, form } = this.#options;
    const { sequence, cells } = this.#session;
    requireImportable(state, layout);
    const imported = new SessionCells();
    imported.load(state.positions, state.tokenIds);
    requireSpace(window, imported.count, imported.nextPosition, 1);
    if (imported.count === 0) return this.#clear();
    requireFiniteNumbers(state);
    await this.#incomingFile(stateParts(state, imported.tokensByPosition(), sequences, form), async (path) => {
      await this.#clear();
      await sequence.load(path);
    });
    cells.load(imported.positions, imported.tokenIds);
  }

  /** @throws RangeError for an empty session @throws BenchError `disk` */
  async checkpoint(id: string = randomUUID()): Promise<Checkpoint> {
    const { sequence, cells } = this.#session;
    const { checkpoints, stateIdentity } = this.#options;
    if (cells.count === 0) throw new RangeError('an empty session has no state to save');
    const tokens = cells.tokensByPosition();
    const { content, ...written } = await checkpoints.write(id, (path) => sequence.save(path));
    const checkpoint: Checkpoint = { id, tokens, ...written, stateIdentity };
    this.#keepVerified(checkpoint, content);
    return checkpoint;
  }

  /** Replaces the session by a saved one. @throws BenchError `bad-state`, `context-overflow` */
  async restore(checkpoint: Checkpoint): Promise<void> {
    const { checkpoints, verified, sequences, stateIdentity, layout } = this.#options;
    if (checkpoint.stateIdentity !== stateIdentity) {
      throw unusable(`made by ${checkpoint.stateIdentity}, and this is ${stateIdentity}`);
    }
    using copy = verified?.find(checkpoint, checkpoints.identity(checkpoint.id));
    if (copy !== undefined) {
      requireFileOf(copy.head, checkpoint, copy.path, layout);
      await this.#load(copy.head, checkpoint, copy.path);
      return;
    }
    const { path, bytes, identity } = checkpoints.read(checkpoint);
    const file = parseState(bytes, path);
    requireFileOf(file, checkpoint, path, layout);
    requireFiniteNumbers({ ...file, layout }, path);
    if (file.streams === sequences) {
      await this.#load(file, checkpoint, path);
      if (identity !== undefined) verified?.keep(checkpoint, identity, bytes, file);
    } else {
      await this.#incomingFile(withStreams(file, sequences), (scratch) => this.#load(file, checkpoint, scratch));
    }
  }

  /** Keeps what was just written, if it could be loaded. */
  #keepVerified(checkpoint: Checkpoint, content: Uint8Array<ArrayBuffer>): void {
    const { verified, checkpoints, layout, sequences } = this.#options;
    const identity = checkpoints.identity(checkpoint.id);
    if (verified === null || identity === undefined) return;
    try {
      const file = parseState(content, checkpoint.id);
      requireFileOf(file, checkpoint, checkpoint.id, layout);
      if (file.streams !== sequences || !hasFiniteNumbers({ ...file, layout })) return;
      verified.keep(checkpoint, identity, content, file);
    } catch (error) {
      // Whoever restores it is told why.
      if (!(error instanceof BenchError)) throw error;
    }
  }

  /** Replaces the session by a file that was verified as that of a checkpoint. */
  async #load({ positions }: Pick<ParsedState, 'positions'>, { tokens }: Checkpoint, path: string): Promise<void> {
    const { sequence, cells } = this.#session;
    const loaded = new SessionCells();
    loaded.load(positions, tokensOfCells(positions, tokens));
    requireSpace(this.#options.window, loaded.count, loaded.nextPosition, 1);
    await this.#clear();
    await sequence.load(path);
    cells.load(loaded.positions, loaded.tokenIds);
  }

  async #save(path: string): Promise<void> {
    try {
      await this.#session.sequence.save(path);
    } catch (cause) {
      throw cause instanceof BenchError ? cause : notWritten(path, cause);
    }
  }

  async #clear(): Promise<void> {
    const { sequence, cells } = this.#session;
    if (cells.nextPosition > 0) await sequence.truncate(0);
    cells.load([], []);
  }

  [Symbol.dispose](): void {
    this.#incoming?.[Symbol.dispose]();
    this.#incoming = undefined;
  }

  /** Puts the parts of a state where the session can load them: in memory, else in the scratch file. */
  async #incomingFile(parts: readonly Uint8Array[], load: (path: string) => Promise<void>): Promise<void> {
    const { scratchPath, verified } = this.#options;
    if (verified !== null) this.#incoming ??= MemoryFile.create();
    if (this.#incoming?.write(parts) === true) {
      using file = this.#incoming.open();
      await load(file.path);
      return;
    }
    await this.#throughScratch(() => {
      writeScratch(scratchPath, parts);
      return load(scratchPath);
    });
  }

  async #throughScratch<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } finally {
      rmSync(this.#options.scratchPath, { force: true });
    }
  }
}

/** The token of each cell, from the list by position; unknown where several cells have the position. */
function tokensOfCells(positions: Int32Array, tokens: readonly number[]): Int32Array {
  return positions.map((position) => tokens[position] ?? UNKNOWN_TOKEN);
}

function emptyCells({ layers }: KvLayout): FileCells {
  const none = Array.from({ length: layers }, () => new Uint8Array(0));
  return { positions: new Int32Array(0), keys: none, values: none };
}

function writeScratch(path: string, parts: readonly Uint8Array[]): void {
  try {
    writeParts(path, parts);
  } catch (cause) {
    throw notWritten(path, cause);
  }
}

function notWritten(path: string, cause: unknown): BenchError {
  const hint = 'free some space, or name another folder: TMPDIR';
  return new BenchError('disk', `${path}: the K/V state could not be written`, hint, cause);
}

function nothing(): void {
  // The arrays belong to whoever holds them.
}
