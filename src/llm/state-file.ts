import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { BenchError } from '../config/bench-error.ts';
import { numberBytes, type NumberType, type StateLayout } from './state-format.ts';
import { readStateLayout } from './state-layout.ts';

/** What a state must agree with to be loaded. */
export interface StateShape {
  readonly layers: number;
  readonly kvHeads: number | undefined;
  readonly headDimension: number;
  readonly valueDimension: number;
  readonly sequences: number;
  readonly kvType: NumberType;
}

/**
 * Checks a llama.cpp state file against the model and the context that are to load it, without reading its K/V.
 *
 * @returns the position of each cell
 * @throws BenchError `bad-state` naming the file and what is wrong with it
 * @see readStateLayout for what is checked
 */
export function readStatePositions(path: string, shape: StateShape): Int32Array {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (cause) {
    throw new BenchError('bad-state', `${path}: no such K/V state`, 'compute it again', cause);
  }
  try {
    const integers = (offset: number, count: number): Int32Array => {
      const read = new Int32Array(count);
      readSync(file, read, 0, read.byteLength, offset);
      return read;
    };
    const layout = readStateLayout({ name: path, sizeBytes: fstatSync(file).size, integers });
    const mismatch = mismatchOf(layout, shape);
    if (mismatch !== undefined) {
      const message = `${path}: unusable K/V state: ${mismatch}`;
      throw new BenchError('bad-state', message, 'delete it; it will be computed again');
    }
    return layout.positions;
  } finally {
    closeSync(file);
  }
}

function mismatchOf({ streams, kv }: StateLayout, shape: StateShape): string | undefined {
  const { kvType } = shape;
  const rowBytes = (dimension: number): number => (shape.kvHeads ?? 0) * dimension * numberBytes(kvType);
  if (streams !== shape.sequences) return `made for ${streams} sequences, and the context has ${shape.sequences}`;
  if (!kv.valuesTransposed) return 'made with flash attention';
  if (kv.layers !== shape.layers) return `${kv.layers} layers, and the model has ${shape.layers}`;
  if (kv.keyType !== kvType || kv.keyRowBytes !== rowBytes(shape.headDimension)) {
    return 'the keys of layer 0 have another layout';
  }
  if (kv.valueType !== kvType || kv.valueRowBytes !== rowBytes(shape.valueDimension)) {
    return 'the values of layer 0 have another layout';
  }
  return undefined;
}
