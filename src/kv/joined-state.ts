import { cellBytes, keyRowBytes, type KvLayout, type SequenceState, valueRowBytes } from '../engine/sequence-state.ts';
import { leaseMemory, memoryAt, type MemoryLease } from './kernel-memory.ts';
import type { KernelPlace } from './kept-cells.ts';

/** The result of a join, in memory of the kernels that is leased until disposal, not cleared. */
export class JoinedState implements SequenceState, KernelPlace {
  readonly layout: KvLayout;
  readonly positions: Int32Array;
  readonly tokenIds: Int32Array;
  readonly keysAt: readonly number[];
  readonly valuesAt: readonly number[];
  #lease: MemoryLease | undefined;

  /** @throws RangeError where the kernels can have no more memory */
  constructor({ layout, positions, tokenIds }: Pick<SequenceState, 'layout' | 'positions' | 'tokenIds'>) {
    this.layout = layout;
    this.positions = positions;
    this.tokenIds = tokenIds;
    const [keyBytes, valueBytes] = [positions.length * keyRowBytes(layout), positions.length * valueRowBytes(layout)];
    this.#lease = leaseMemory(positions.length * cellBytes(layout));
    const { address } = this.#lease;
    const valuesStart = address + layout.layers * keyBytes;
    this.keysAt = Array.from({ length: layout.layers }, (_, layer) => address + layer * keyBytes);
    this.valuesAt = Array.from({ length: layout.layers }, (_, layer) => valuesStart + layer * valueBytes);
  }

  /** Views, which last until more blocks are kept. @throws RangeError after disposal */
  get keys(): readonly Uint8Array[] {
    return this.#views(this.keysAt, keyRowBytes(this.layout));
  }

  /** As `keys`. */
  get values(): readonly Uint8Array[] {
    return this.#views(this.valuesAt, valueRowBytes(this.layout));
  }

  [Symbol.dispose](): void {
    this.#lease?.[Symbol.dispose]();
    this.#lease = undefined;
  }

  #views(addresses: readonly number[], rowBytes: number): Uint8Array[] {
    if (this.#lease === undefined) throw new RangeError('joined K/V was disposed of');
    return memoryAt(addresses, this.positions.length * rowBytes);
  }
}
