import { createHash } from 'node:crypto';
import { SeededRandom } from '../base/seeded-random.ts';
import { type KvLayout, numberBytes, type SequenceState } from '../engine/sequence-state.ts';
import { UNKNOWN_TOKEN } from '../engine/token-id.ts';
import { cutCells, ownedState } from './cut-cells.ts';
import { type Eviction, evictionScores, type HeadCells, keptTokens } from './eviction-scores.ts';
import { readNumbers } from '../base/float16.ts';

/** The tokens that each head of each layer keeps, in order: [layer][head][kept]. */
type KeptByHead = readonly (readonly Int32Array[])[];

/**
 * Drops tokens, and packs what is left into fewer cells. Each KV head of each layer keeps its own tokens, the same number
 * everywhere, in order, so that a cell may hold another token for every head. Keys stay rotated by the positions of their
 * tokens. The position of a cell matters for the causal mask only: it is that of its latest token; the last cell keeps the
 * last position, so that the next token takes the same position as before. Among equal scores the later token stays.
 * @param cells of known tokens, in the order of their positions
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
    ...tokensAndPositions(cells, kept.flat(), left),
    keys: cells.keys.map((tensor, layer) => pack(tensor, kept[layer]!, count)),
    values: cells.values.map((tensor, layer) =>
      pack(tensor, kept[layer]!, count, layout.valuesTransposed ? numberBytes(layout.valueType) : undefined),
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

/** The numbers of one head as [token][dimension]. */
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

function tokensAndPositions(
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

/** The kept tokens of each head. Transposed, each dimension of a head is a row of its own; else a head is moved in one piece. */
function pack(tensor: Uint8Array, kept: readonly Int32Array[], cells: number, numberBytes?: number): Uint8Array {
  const headBytes = tensor.length / cells / kept.length;
  const pieceBytes = numberBytes ?? headBytes;
  const stride = numberBytes ?? headBytes * kept.length;
  const left = kept[0]!.length;
  const packed = new Uint8Array((tensor.length / cells) * left);
  kept.forEach((tokens, head) => {
    for (let piece = head * headBytes; piece < (head + 1) * headBytes; piece += pieceBytes) {
      const [source, target] = numberBytes === undefined ? [piece, piece] : [piece * cells, piece * left];
      tokens.forEach((token, cell) => {
        const from = source + token * stride;
        packed.set(tensor.subarray(from, from + pieceBytes), target + cell * stride);
      });
    }
  });
  return packed;
}
