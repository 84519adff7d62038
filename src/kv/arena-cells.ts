import { BenchError } from '../base/bench-error.ts';
import { keyRowBytes, kvBytes, type KvLayout, type SequenceState, valueRowBytes } from '../engine/sequence-state.ts';
import { giveMemoryBack, memoryAt, takeMemory, wholeMemory } from './wasm-arena.ts';
import { cutCells } from './cut-cells.ts';

/** Arena addresses of the keys and values of each layer. */
export interface ArenaPlace {
  readonly keysAt: readonly number[];
  readonly valuesAt: readonly number[];
}

type Shape = Pick<SequenceState, 'layout' | 'positions' | 'tokenIds'>;

/** Lays out the keys of all layers one after another from `address`, then the values. */
function placeFrom(address: number, { layout, positions }: Shape): ArenaPlace {
  const [keyBytes, valueBytes] = [positions.length * keyRowBytes(layout), positions.length * valueRowBytes(layout)];
  const valuesStart = address + layout.layers * keyBytes;
  const layers = [...Array(layout.layers).keys()];
  return {
    keysAt: layers.map((layer) => address + layer * keyBytes),
    valuesAt: layers.map((layer) => valuesStart + layer * valueBytes),
  };
}

/** What stores leave free in the arena for the joins of turns. */
const LEFT_FOR_JOINS = 2 ** 30;

/**
 * A copy of cells in the arena, where a join can read it directly. It is in plain memory if the arena is full, or after
 * `moveOut`. The store owns it and frees it with `moveOut` or `erase`, so `Symbol.dispose` does nothing.
 */
export class ArenaCells implements SequenceState {
  readonly layout: KvLayout;
  readonly tokenIds: Int32Array;
  readonly positions: Int32Array;
  #place: ArenaPlace | undefined;
  #plain: SequenceState | undefined;

  /** @param leavingBytes what must stay free in the arena */
  constructor(cells: SequenceState, leavingBytes = LEFT_FOR_JOINS) {
    this.layout = cells.layout;
    this.tokenIds = cells.tokenIds;
    this.positions = cells.positions;
    const sizeBytes = kvBytes(cells);
    const address = takeMemory(sizeBytes, leavingBytes);
    if (address === undefined) {
      this.#plain = cutCells(cells, 0, cells.positions.length);
      return;
    }
    const place = placeFrom(address, cells);
    try {
      // Read only now: views of cells in the arena end when it grows. Disposed cells throw.
      const { keys, values } = cells;
      keys.forEach((tensor, layer) => wholeMemory().set(tensor, place.keysAt[layer]));
      values.forEach((tensor, layer) => wholeMemory().set(tensor, place.valuesAt[layer]));
    } catch (error) {
      giveMemoryBack(address, sizeBytes);
      throw error;
    }
    this.#place = place;
  }

  /** Undefined if the cells are in plain memory. */
  get place(): ArenaPlace | undefined {
    return this.#place;
  }

  /** Views, valid until more memory is taken. @throws BenchError `not-found` after `erase` */
  get keys(): readonly Uint8Array[] {
    return this.#plain?.keys ?? this.#views('keysAt', keyRowBytes(this.layout));
  }

  /** As `keys`. */
  get values(): readonly Uint8Array[] {
    return this.#plain?.values ?? this.#views('valuesAt', valueRowBytes(this.layout));
  }

  [Symbol.dispose](): void {
    // The store frees the memory.
  }

  /** Moves the cells to plain memory, where a turn that uses them can still read them. */
  moveOut(): void {
    if (this.#place === undefined) return;
    this.#plain = cutCells(this, 0, this.positions.length);
    this.#free(this.#place);
  }

  /** Clears the keys and values and frees their memory. */
  erase(): void {
    if (this.#place !== undefined) {
      const address = this.#place.keysAt[0]!;
      wholeMemory().fill(0, address, address + kvBytes(this));
      this.#free(this.#place);
    }
    for (const tensor of [...(this.#plain?.keys ?? []), ...(this.#plain?.values ?? [])]) tensor.fill(0);
    this.#plain = undefined;
  }

  #free({ keysAt }: ArenaPlace): void {
    giveMemoryBack(keysAt[0]!, kvBytes(this));
    this.#place = undefined;
  }

  #views(what: keyof ArenaPlace, rowBytes: number): Uint8Array[] {
    if (this.#place === undefined) throw deletedDuringTurn();
    return memoryAt(this.#place[what], this.positions.length * rowBytes);
  }
}

/** For a turn that reads a block deleted while the turn was running. */
export function deletedDuringTurn(): BenchError {
  const message = 'the KV of a memory was deleted while a turn was using it';
  return new BenchError('not-found', message, 'ask again: the turn will use the memories that are left');
}

/** The result of a join, in arena memory that it owns until disposal. The memory is uninitialised at first. */
export class JoinedState implements SequenceState, ArenaPlace {
  readonly layout: KvLayout;
  readonly positions: Int32Array;
  readonly tokenIds: Int32Array;
  readonly keysAt: readonly number[];
  readonly valuesAt: readonly number[];
  #isDisposed = false;

  /** @throws BenchError `bad-option` if the arena is full */
  constructor({ layout, positions, tokenIds }: Shape) {
    this.layout = layout;
    this.positions = positions;
    this.tokenIds = tokenIds;
    const address = takeMemory(kvBytes(this)) ?? arenaIsFull();
    const { keysAt, valuesAt } = placeFrom(address, this);
    this.keysAt = keysAt;
    this.valuesAt = valuesAt;
  }

  /** Views, valid until more memory is taken. @throws RangeError after disposal */
  get keys(): readonly Uint8Array[] {
    return this.#views(this.keysAt, keyRowBytes(this.layout));
  }

  /** As `keys`. */
  get values(): readonly Uint8Array[] {
    return this.#views(this.valuesAt, valueRowBytes(this.layout));
  }

  [Symbol.dispose](): void {
    if (!this.#isDisposed) giveMemoryBack(this.keysAt[0]!, kvBytes(this));
    this.#isDisposed = true;
  }

  #views(addresses: readonly number[], rowBytes: number): Uint8Array[] {
    if (this.#isDisposed) throw new RangeError('joined KV was disposed of');
    return memoryAt(addresses, this.positions.length * rowBytes);
  }
}

/** Arena memory that one operation needs besides its result, freed on disposal. */
export class ArenaScratch implements Disposable {
  readonly #copies = new Map<SequenceState, ArenaCells>();
  readonly #taken: { readonly address: number; readonly sizeBytes: number }[] = [];

  /** The place of cells, copied into the arena if they are not there. @throws BenchError `bad-option` if it is full */
  place(cells: SequenceState): ArenaPlace {
    if (cells instanceof JoinedState) return cells;
    if (cells instanceof ArenaCells && cells.place !== undefined) return cells.place;
    const copy = this.#copies.get(cells) ?? new ArenaCells(cells, 0);
    this.#copies.set(cells, copy);
    return copy.place ?? arenaIsFull();
  }

  /** The address of scratch memory. @throws BenchError `bad-option` if the arena is full */
  take(sizeBytes: number): number {
    const address = takeMemory(sizeBytes) ?? arenaIsFull();
    this.#taken.push({ address, sizeBytes });
    return address;
  }

  [Symbol.dispose](): void {
    for (const copy of this.#copies.values()) copy.erase();
    for (const { address, sizeBytes } of this.#taken) giveMemoryBack(address, sizeBytes);
  }
}

function arenaIsFull(): never {
  const message = 'the KV blocks of the turns under way do not fit into 4 GiB';
  throw new BenchError('bad-option', message, 'show fewer memories, ask fewer questions at once, or take arm dki');
}
