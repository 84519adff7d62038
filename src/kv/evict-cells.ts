import { createHash } from 'node:crypto';
import { SeededRandom } from '../base/seeded-random.ts';
import {
  keyRowBytes,
  type KvLayout,
  numberBytes,
  type SequenceState,
  valueRowBytes,
} from '../engine/sequence-state.ts';
import { UNKNOWN_TOKEN } from '../engine/token-id.ts';
import { cutCells } from './cut-cells.ts';
import { type Eviction, keptTokens } from './eviction.ts';
import { evictionScores, type HeadCells } from './eviction-scores.ts';
import { ownedState } from './owned-state.ts';
import { readNumbers } from './read-numbers.ts';

/** The tokens that each head of each layer keeps, in order: [layer][head][kept]. */
type KeptByHead = readonly (readonly Int32Array[])[];

/**
 * Drops tokens, and packs what is left into fewer cells. Each K/V head of each layer keeps tokens of its own, the same number
 * everywhere, in their order: a cell then holds another token for every head. Keys stay rotated by the positions of their
 * tokens. The position of a cell counts for the causal mask alone: it is that of its latest token; the last cell stands where
 * the last one stood, so that the next token takes the same position as before. Of equal scores the later token stays.
 * @param cells with tokens that are known, in the order of their positions
 * @returns a copy; the token of a cell is −1 where heads hold different ones
 */
export function evictCells(cells: SequenceState, eviction: Eviction): SequenceState {
  const count = cells.positions.length;
  const left = keptTokens(count, eviction);
  if (left === count) return cutCells(cells, 0, count);
  const kept = keptByHead(cells, eviction, left);
  const { layout } = cells;
  return ownedState({
    layout,
    ...placesOf(cells, kept.flat(), left),
    keys: cells.keys.map((tensor, layer) => packedRows(tensor, kept[layer]!, keyRowBytes(layout), layout)),
    values: cells.values.map((tensor, layer) =>
      layout.valuesTransposed
        ? packedColumns(tensor, kept[layer]!, count, layout)
        : packedRows(tensor, kept[layer]!, valueRowBytes(layout), layout),
    ),
  });
}

function keptByHead({ layout, keys, values, tokenIds }: SequenceState, eviction: Eviction, left: number): KeptByHead {
  const random = new SeededRandom(createHash('sha256').update(Int32Array.from(tokenIds)).digest().readInt32LE(0));
  const draw = (): number => random.float();
  return keys.map((tensor, layer) => {
    const [keyNumbers, valueNumbers] = [
      readNumbers(tensor, layout.keyType),
      readNumbers(values[layer]!, layout.valueType),
    ];
    return Array.from({ length: layout.heads }, (_, head) =>
      largest(evictionScores(eviction, headCells(keyNumbers, valueNumbers, head, layout), draw), left),
    );
  });
}

/** The numbers of one head, whatever the order of values. */
function headCells(keys: Float32Array, values: Float32Array, head: number, layout: KvLayout): HeadCells {
  const { heads, headDimension: dimension, valuesTransposed } = layout;
  const tokens = keys.length / (heads * dimension);
  const own = (numbers: Float32Array, isTransposed: boolean): Float32Array => {
    const result = new Float32Array(tokens * dimension);
    for (let token = 0; token < tokens; token++) {
      for (let at = 0; at < dimension; at++) {
        const row = head * dimension + at;
        result[token * dimension + at] =
          numbers[isTransposed ? row * tokens + token : token * heads * dimension + row]!;
      }
    }
    return result;
  };
  return { tokens, dimension, keys: own(keys, false), values: own(values, valuesTransposed) };
}

function largest(scores: Float64Array, count: number): Int32Array {
  const byScore = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || b - a);
  return Int32Array.from(byScore.slice(0, count)).sort();
}

function placesOf(
  { positions, tokenIds }: SequenceState,
  kept: readonly Int32Array[],
  left: number,
): Pick<SequenceState, 'positions' | 'tokenIds'> {
  const latest = Array.from({ length: left }, (_, cell) => Math.max(...kept.map((tokens) => tokens[cell]!)));
  latest[left - 1] = positions.length - 1;
  const isShared = (cell: number): boolean => kept.some((tokens) => tokens[cell] !== latest[cell]);
  return {
    positions: Int32Array.from(latest, (token) => positions[token]!),
    tokenIds: Int32Array.from(latest, (token, cell) => (isShared(cell) ? UNKNOWN_TOKEN : tokenIds[token]!)),
  };
}

/** Of [cell][head][dimension]. */
function packedRows(
  tensor: Uint8Array,
  kept: readonly Int32Array[],
  rowBytes: number,
  { heads }: KvLayout,
): Uint8Array {
  const headBytes = rowBytes / heads;
  const packed = new Uint8Array(kept[0]!.length * rowBytes);
  kept.forEach((tokens, head) =>
    tokens.forEach((token, cell) => {
      const from = token * rowBytes + head * headBytes;
      packed.set(tensor.subarray(from, from + headBytes), cell * rowBytes + head * headBytes);
    }),
  );
  return packed;
}

/** Of [head][dimension][cell]. */
function packedColumns(
  tensor: Uint8Array,
  kept: readonly Int32Array[],
  cells: number,
  { headDimension, valueType }: KvLayout,
): Uint8Array {
  const bytes = numberBytes(valueType);
  const left = kept[0]!.length;
  const packed = new Uint8Array(kept.length * headDimension * left * bytes);
  kept.forEach((tokens, head) => {
    for (let row = head * headDimension; row < (head + 1) * headDimension; row++) {
      tokens.forEach((token, cell) => {
        const from = (row * cells + token) * bytes;
        packed.set(tensor.subarray(from, from + bytes), (row * left + cell) * bytes);
      });
    }
  });
  return packed;
}
