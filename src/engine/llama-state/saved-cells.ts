import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { keyRowBytes, type KvLayout, valueRowBytes } from '../sequence-state.ts';
import type { TokenRange } from '../token-id.ts';
import type { StateBytes } from './state-bytes.ts';
import { requireOrderOfValues, unusable } from './state-checks.ts';
import { eachRun, type FileCells, gatherColumns } from './state-file.ts';
import { readStateLayout } from './state-layout.ts';

/**
 * Reads cells out of the file into which llama.cpp just saved a session: no more of it than it takes.
 * @param positions of all cells of the session, in the order in which they came @param range of the cells that are wanted
 * @throws BenchError `bad-state` where it holds other cells, or numbers of another layout
 */
export function readSavedCells(
  path: string,
  layout: KvLayout,
  positions: readonly number[],
  range: TokenRange,
): FileCells {
  using file = new OpenState(path);
  const saved = readStateLayout(file, path);
  requireOrderOfValues(saved, path, layout);
  const order = orderOf(saved.positions, positions).slice(range.start, range.end);
  const rows = (start: number, rowBytes: number): Uint8Array => {
    const read = new Uint8Array(order.length * rowBytes);
    eachRun(order, (from, to, count) =>
      file.read(start + from * rowBytes, read.subarray(to * rowBytes, (to + count) * rowBytes)),
    );
    return read;
  };
  const allCells = saved.positions.length;
  const isWhole = order.length === allCells && order.every((cell, index) => cell === index);
  const isRows = isWhole || !layout.valuesTransposed;
  // The numbers of one cell lie far apart: all of a layer is read, into memory that serves every layer.
  const layer = new Uint8Array(isRows ? 0 : allCells * valueRowBytes(layout));
  const columns = (start: number): Uint8Array => {
    file.read(start, layer);
    return gatherColumns(layer, allCells, order, layout);
  };
  return {
    positions: Int32Array.from(order, (cell) => saved.positions[cell]!),
    keys: saved.keysAt.map((start) => rows(start, keyRowBytes(layout))),
    values: saved.valuesAt.map((start) => (isRows ? rows(start, valueRowBytes(layout)) : columns(start))),
  };
}

/** A state file that is read piece by piece. */
class OpenState implements StateBytes, Disposable {
  readonly sizeBytes: number;
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.sizeBytes = fstatSync(this.#file).size;
  }

  copy(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    this.read(offset, bytes);
    return bytes;
  }

  /** @throws BenchError `bad-state` where the file has become shorter */
  read(offset: number, into: Uint8Array): void {
    for (let done = 0; done < into.length;) {
      const read = readSync(this.#file, into, done, into.length - done, offset + done);
      if (read === 0) throw unusable('cut short');
      done += read;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
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
