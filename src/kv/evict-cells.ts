import { createHash } from 'node:crypto';
import { SeededRandom } from '../base/seeded-random.ts';
import { type KvLayout, numberBytes, ownedState, type SequenceState } from '../engine/sequence-state.ts';
import { UNKNOWN_TOKEN } from '../engine/token-id.ts';
import { cutCells } from './cut-cells.ts';
import { evictionScores, type HeadCells } from './eviction-scores.ts';
import { type Eviction, keptTokens } from './eviction-rule-and-share.ts';
import { readNumbers } from '../base/float16.ts';

/**
 * Drops tokens and packs the rest into fewer cells. Each KV head of each layer selects its tokens separately, the same number
 * everywhere, so a cell may hold a different token in each head. Keys stay rotated for the positions of their tokens. The
 * position of a cell matters only for the causal mask: it is the position of its latest token. The last cell keeps the last
 * position, so the next token gets the same position as without eviction. Of two equal scores, the later token stays.
 * @param cells known tokens, ordered by position
 * @param attention of the question to each token, for a rule that sees the question
 * @returns a copy; the token of a cell is −1 if its heads hold different tokens
 */
export function evictCells(cells: SequenceState, eviction: Eviction, attention?: Float64Array): SequenceState {
  const { layout, positions, tokenIds, keys, values } = cells;
  const count = positions.length;
  const left = keptTokens(count, eviction);
  if (left === count) return cutCells(cells, 0, count);
  const random = new SeededRandom(createHash('sha256').update(Int32Array.from(tokenIds)).digest().readInt32LE(0));
  /** Remaining tokens: [layer][head][cell]. */
  const tokens = keys.map((tensor, layer) => {
    const keyNumbers = readNumbers(tensor, layout.keyType);
    const valueNumbers = readNumbers(values[layer]!, layout.valueType);
    return Array.from({ length: layout.heads }, (_, head) => {
      const numbers = { ...headCells(keyNumbers, valueNumbers, head, layout), attention };
      const scores = evictionScores(eviction, numbers, () => random.float());
      return largest(scores, left);
    });
  });
  const all = tokens.flat();
  const latest = Array.from({ length: left }, (_, cell) => Math.max(...all.map((own) => own[cell]!)));
  latest[left - 1] = count - 1;
  const isShared = (cell: number): boolean => all.every((own) => own[cell] === latest[cell]);
  const valueBytes = layout.valuesTransposed ? numberBytes(layout.valueType) : undefined;
  return ownedState({
    layout,
    positions: Int32Array.from(latest, (token) => positions[token]!),
    tokenIds: Int32Array.from(latest, (token, cell) => (isShared(cell) ? tokenIds[token]! : UNKNOWN_TOKEN)),
    keys: keys.map((tensor, layer) => pack(tensor, tokens[layer]!, count)),
    values: values.map((tensor, layer) => pack(tensor, tokens[layer]!, count, valueBytes)),
  });
}

/** The numbers of one head as [token][dimension]. */
function headCells(keys: Float32Array, values: Float32Array, head: number, layout: KvLayout): HeadCells {
  const { heads, headDimension: dimension, valuesTransposed } = layout;
  const tokens = keys.length / (heads * dimension);
  const own = (numbers: Float32Array, isTransposed: boolean): Float32Array => {
    const result = new Float32Array(tokens * dimension);
    for (let index = 0; index < result.length; index++) {
      const token = Math.floor(index / dimension);
      const row = head * dimension + (index % dimension);
      result[index] = numbers[isTransposed ? row * tokens + token : token * heads * dimension + row]!;
    }
    return result;
  };
  return { tokens, dimension, keys: own(keys, false), values: own(values, valuesTransposed) };
}

function largest(scores: Float64Array, count: number): Int32Array {
  const byScore = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || b - a);
  return Int32Array.from(byScore.slice(0, count)).sort();
}

/**
 * Copies the remaining tokens of each head into adjacent cells.
 * @param numberBytes bytes of one number, for transposed values: each dimension of a head is then a separate row
 */
function pack(tensor: Uint8Array, tokens: readonly Int32Array[], cells: number, numberBytes?: number): Uint8Array {
  const headBytes = tensor.length / cells / tokens.length;
  const pieceBytes = numberBytes ?? headBytes;
  const stride = numberBytes ?? headBytes * tokens.length;
  const left = tokens[0]!.length;
  const packed = new Uint8Array((tensor.length / cells) * left);
  tokens.forEach((own, head) => {
    for (let piece = head * headBytes; piece < (head + 1) * headBytes; piece += pieceBytes) {
      const [source, target] = numberBytes === undefined ? [piece, piece] : [piece * cells, piece * left];
      own.forEach((token, cell) => {
        const from = source + token * stride;
        packed.set(tensor.subarray(from, from + pieceBytes), target + cell * stride);
      });
    }
  });
  return packed;
}
