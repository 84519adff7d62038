import { kvBytes, type SequenceState } from '../engine/sequence-state.ts';
import type { QuantisedType } from '../store/records/prefill-record.ts';
import { ArenaCells, deletedDuringTurn } from './arena-cells.ts';
import { readBlockFile, writeBlockFile } from './block-file.ts';
import type { BlockForm, HeldBlock } from './block-memory-tier.ts';
import { readQuantised, writeQuantised } from './quantised-block.ts';
import type { RotatedKeyCache } from './rotated-key-cache.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Holds blocks in the arena, as they were evaluated. @param rotated loses the keys of a block that leaves */
export function arenaBlocks(rotated: RotatedKeyCache): BlockForm<SequenceState, Bytes> {
  const held = (cells: ArenaCells): HeldBlock<SequenceState, Bytes> => ({
    sizeBytes: kvBytes(cells),
    read: () => cells,
    file: () => writeBlockFile(cells),
    moveOut: () => {
      rotated.forget(cells);
      cells.moveOut();
    },
    erase: () => {
      rotated.forget(cells);
      cells.erase();
    },
  });
  return {
    hold: (state) => held(new ArenaCells(state)),
    holdFile: (bytes, name) => {
      const cells = new ArenaCells(readBlockFile(bytes, name));
      return { block: held(cells), state: cells };
    },
  };
}

/** Holds quantised blocks outside the arena; each read returns a dequantised copy. */
export function quantisedBlocks(type: QuantisedType): BlockForm<SequenceState, Bytes> {
  return {
    hold: (state) => new QuantisedBlock(writeQuantised(state, type)),
    holdFile: (bytes, name) => {
      const state = readQuantised(bytes, name);
      return { block: new QuantisedBlock(bytes.slice()), state };
    },
  };
}

class QuantisedBlock implements HeldBlock<SequenceState, Bytes> {
  readonly sizeBytes: number;
  #bytes: Bytes | undefined;

  /** @param bytes from `writeQuantised`, owned by this object from then on */
  constructor(bytes: Bytes) {
    this.#bytes = bytes;
    this.sizeBytes = bytes.length;
  }

  read(): SequenceState {
    return readQuantised(this.file());
  }

  file(): Bytes {
    if (this.#bytes === undefined) throw deletedDuringTurn();
    return this.#bytes;
  }

  moveOut(): void {
    // Turns have copies.
  }

  erase(): void {
    this.#bytes?.fill(0);
    this.#bytes = undefined;
  }
}
