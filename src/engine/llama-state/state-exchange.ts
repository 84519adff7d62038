import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { BenchError } from '../../config/bench-error.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { hasFiniteNumbers } from '../finite-numbers.ts';
import { keyRowBytes, type KvLayout, sameLayout, valueRowBytes } from '../kv-layout.ts';
import type { SequenceState } from '../sequence-state.ts';
import { type TokenRange, UNKNOWN_TOKEN } from '../token-id.ts';
import type { CheckpointFolder } from './checkpoint-folder.ts';
import { SessionCells } from './session-cells.ts';
import {
  type FileCells,
  gatherCells,
  type ParsedState,
  parseState,
  PLACEHOLDER_TOKEN,
  stateParts,
  withStreams,
  writeParts,
} from './state-file.ts';
import type { StateForm } from './state-layout.ts';
import { requireSpace, type Window } from '../window.ts';

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
  /** A file of this session alone, in a private folder. */
  readonly scratchPath: string;
}

/** Moves K/V between a session and files. llama.cpp reads and writes files alone. */
export class StateExchange {
  readonly #session: ExchangedSession;
  readonly #options: ExchangeOptions;

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
      return parseState(readFileSync(scratchPath), scratchPath);
    });
    requireOrderOfValues(saved, scratchPath, layout);
    const order = orderOf(saved.positions, cells.positions).slice(range.start, range.end);
    const whole = order.length === saved.positions.length && order.every((cell, index) => cell === index);
    const { positions, keys, values } = whole ? saved : gatherCells(saved, order, layout);
    return { layout, tokenIds, positions, keys, values, [Symbol.dispose]: nothing };
  }

  /** Replaces the session by cells. @throws BenchError `bad-state`, `context-overflow`, `disk` */
  async import(state: SequenceState): Promise<void> {
    const { layout, window, scratchPath, sequences, form } = this.#options;
    const { sequence, cells } = this.#session;
    requireImportable(state, layout);
    const imported = new SessionCells();
    imported.load(state.positions, state.tokenIds);
    requireSpace(window, imported.count, imported.nextPosition, 1);
    if (imported.count === 0) return this.#clear();
    requireFiniteNumbers(state);
    await this.#throughScratch(async () => {
      writeScratch(scratchPath, stateParts(state, imported.tokensByPosition(), sequences, form));
      await this.#clear();
      await sequence.load(scratchPath);
    });
    cells.load(imported.positions, imported.tokenIds);
  }

  /** @throws RangeError for an empty session @throws BenchError `disk` */
  async checkpoint(id: string = randomUUID()): Promise<Checkpoint> {
    const { sequence, cells } = this.#session;
    const { checkpoints, stateIdentity } = this.#options;
    if (cells.count === 0) throw new RangeError('an empty session has no state to save');
    const written = await checkpoints.write(id, (path) => sequence.save(path));
    return { id, tokens: cells.tokensByPosition(), ...written, stateIdentity };
  }

  /** Replaces the session by a saved one. @throws BenchError `bad-state`, `context-overflow` */
  async restore(checkpoint: Checkpoint): Promise<void> {
    const { checkpoints, window, sequences, stateIdentity, scratchPath, layout } = this.#options;
    const { sequence, cells } = this.#session;
    if (checkpoint.stateIdentity !== stateIdentity) {
      throw unusable(`made by ${checkpoint.stateIdentity}, and this is ${stateIdentity}`);
    }
    const { path, bytes } = checkpoints.read(checkpoint);
    const file = parseState(bytes, path);
    requireFileOf(file, checkpoint, path, layout);
    requireFiniteNumbers({ ...file, layout }, path);
    const restored = new SessionCells();
    restored.load(file.positions, tokensOfCells(file.positions, checkpoint.tokens));
    requireSpace(window, restored.count, restored.nextPosition, 1);
    if (file.streams === sequences) {
      await this.#clear();
      await sequence.load(path);
    } else {
      await this.#throughScratch(async () => {
        writeScratch(scratchPath, withStreams(file, sequences));
        await this.#clear();
        await sequence.load(scratchPath);
      });
    }
    cells.load(restored.positions, restored.tokenIds);
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

  async #throughScratch<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } finally {
      rmSync(this.#options.scratchPath, { force: true });
    }
  }
}

/** @throws BenchError `bad-state` naming what is wrong */
function requireImportable({ layout, positions, tokenIds, keys, values }: SequenceState, own: KvLayout): void {
  if (!sameLayout(layout, own)) throw unusable('another layout than that of this model and its K/V type');
  const cells = positions.length;
  const wrongSize = (tensors: readonly Uint8Array[], rowBytes: number): boolean =>
    tensors.length !== own.layers || tensors.some(({ length }) => length !== cells * rowBytes);
  if (tokenIds.length !== cells || wrongSize(keys, keyRowBytes(own)) || wrongSize(values, valueRowBytes(own))) {
    throw unusable(`arrays that do not hold ${cells} cells in ${own.layers} layers`);
  }
  const negative = positions.find((position) => position < 0);
  if (negative !== undefined) throw unusable(`a cell has the position ${negative}, which llama.cpp would ignore`);
}

function requireFileOf(file: ParsedState, { tokens }: Checkpoint, path: string, own: KvLayout): void {
  const { tensors: found } = file;
  const refuse = (why: string): never => {
    throw unusable(why, path);
  };
  requireOrderOfValues(file, path, own);
  if (found.layers !== own.layers) refuse(`${found.layers} layers, and the model has ${own.layers}`);
  if (found.keyType !== own.keyType || found.keyRowBytes !== keyRowBytes(own)) {
    refuse('the keys of layer 0 have another layout');
  }
  if (found.valueType !== own.valueType || found.valueRowBytes !== valueRowBytes(own)) {
    refuse('the values of layer 0 have another layout');
  }
  const listed = tokens.map((token) => (token === UNKNOWN_TOKEN ? PLACEHOLDER_TOKEN : token));
  const same = listed.length === file.tokens.length && listed.every((token, index) => token === file.tokens[index]);
  if (!same) refuse('its tokens are not those of the checkpoint');
}

/** The order says whether flash attention was on, whatever a context was asked for. */
function requireOrderOfValues({ tensors }: ParsedState, path: string, own: KvLayout): void {
  if (tensors.valuesTransposed === own.valuesTransposed) return;
  throw unusable(`made ${tensors.valuesTransposed ? 'without' : 'with'} flash attention`, path);
}

/** Before llama.cpp has them: its context would keep them where no sequence sees them. @throws BenchError `bad-state` */
function requireFiniteNumbers(state: Parameters<typeof hasFiniteNumbers>[0], name?: string): void {
  if (!hasFiniteNumbers(state)) throw unusable('keys or values that are not finite numbers', name);
}

/** The token of each cell, from the list by position; unknown where several cells have the position. */
function tokensOfCells(positions: Int32Array, tokens: readonly number[]): Int32Array {
  return positions.map((position) => tokens[position] ?? UNKNOWN_TOKEN);
}

/**
 * For each cell in the order in which it came, its place in the file: llama.cpp puts new cells where others were erased.
 * Cells of one position came together, and keep their order.
 */
function orderOf(saved: Int32Array, positions: readonly number[]): number[] {
  const places = new Map<number, number[]>();
  for (let place = saved.length - 1; place >= 0; place--) {
    const position = saved[place]!;
    const known = places.get(position);
    if (known === undefined) places.set(position, [place]);
    else known.push(place);
  }
  return positions.map((position) => {
    const place = places.get(position)?.pop();
    if (place === undefined) throw unusable(`llama.cpp saved no cell of position ${position}`);
    return place;
  });
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

function unusable(why: string, name = 'K/V state'): BenchError {
  return new BenchError('bad-state', `${name}: unusable K/V state: ${why}`, 'it will be computed again');
}

function nothing(): void {
  // The arrays belong to whoever holds them.
}
