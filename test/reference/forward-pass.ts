import type { LayerWeights, Weights } from './weights.ts';

type Vector = Float64Array<ArrayBuffer>;

/** One token as attention sees it: its position, and by layer its key (after RoPE) and its value, all heads. */
export interface Cell {
  readonly position: number;
  readonly keys: readonly Vector[];
  readonly values: readonly Vector[];
}

/** A token to evaluate, and its position. */
export interface PlacedToken {
  readonly token: number;
  readonly position: number;
}

/**
 * True where a token sees a cell. `query` counts the tokens of this pass, `cell` the cells given and, after them, those
 * of the tokens of this pass, in their order. Every token must see one cell at least.
 */
export type Mask = (query: number, cell: number) => boolean;

/** The results of a pass for each of its tokens. */
export interface PassResult {
  readonly cells: readonly Cell[];
  /** By layer the query, after RoPE, all heads. */
  readonly queries: readonly (readonly Vector[])[];
  /** Logits over the vocabulary after the token. */
  readonly logits: readonly Vector[];
}

/** Tokens from a position on. */
export function placed(tokens: readonly number[], from: number): PlacedToken[] {
  return tokens.map((token, index) => ({ token, position: from + index }));
}

/** Each token sees all the cells given, those of the tokens before it, and its own. */
export function causal(given: number): Mask {
  return (query, cell) => cell <= given + query;
}

/**
 * One forward pass in 64-bit floats, as the papers write it: RMS norm, RoPE, grouped-query attention, SwiGLU.
 * Nothing is shared with `src/kv`: that code is compared with it.
 */
export function forwardPass(
  weights: Weights,
  tokens: readonly PlacedToken[],
  given: readonly Cell[],
  sees: Mask,
): PassResult {
  const { normEpsilon } = weights;
  const width = weights.outputNorm.length;
  const cells = tokens.map(({ position }) => ({ position, keys: [] as Vector[], values: [] as Vector[] }));
  const queries = tokens.map((): Vector[] => []);
  let hidden = tokens.map(({ token }) => Float64Array.from(row(weights.embedding, token, width)));
  weights.layers.forEach((layer, index) => {
    const normed = hidden.map((vector) => rmsNorm(vector, layer.attentionNorm, normEpsilon));
    normed.forEach((vector, query) => {
      const { position, keys, values } = cells[query]!;
      keys.push(headsOf(weights, project(layer.key, vector, layer.keyBias), layer.keyNorm, position));
      values.push(project(layer.value, vector, layer.valueBias));
    });
    const all: readonly Cell[] = [...given, ...cells];
    hidden = hidden.map((vector, query) => {
      const { position } = tokens[query]!;
      const raw = project(layer.query, normed[query]!, layer.queryBias);
      const seen = all.filter((_, cell) => sees(query, cell));
      const own = headsOf(weights, raw, layer.queryNorm, position);
      queries[query]!.push(own);
      const attended = attend(weights, own, seen, index);
      const middle = sum(vector, project(layer.output, attended));
      return sum(middle, feedForward(layer, rmsNorm(middle, layer.feedForwardNorm, normEpsilon)));
    });
  });
  const logits = hidden.map((vector) => project(weights.unembedding, rmsNorm(vector, weights.outputNorm, normEpsilon)));
  return { cells, queries, logits };
}

/** A cell at another position: its keys rotated by the difference, everything else as it was. */
export function moveCell(weights: Weights, cell: Cell, position: number): Cell {
  const keys = cell.keys.map((key) => rotateHeads(weights, key, position - cell.position));
  return { ...cell, position, keys };
}

/** A cell with its values times alpha. */
export function scaleCell(cell: Cell, alpha: number): Cell {
  return { ...cell, values: cell.values.map((value) => value.map((number) => number * alpha)) };
}

/** A cell with its keys divided by a temperature. */
export function divideKeys(cell: Cell, temperature: number): Cell {
  return { ...cell, keys: cell.keys.map((key) => key.map((number) => number / temperature)) };
}

/** Queries or keys, ready for attention: each head normed where the model does so, then rotated to its position. */
function headsOf(weights: Weights, raw: Vector, norm: Float32Array | undefined, position: number): Vector {
  const normed = new Float64Array(raw);
  if (norm !== undefined) {
    for (let at = 0; at < raw.length; at += norm.length) {
      normed.set(rmsNorm(raw.subarray(at, at + norm.length), norm, weights.normEpsilon), at);
    }
  }
  return rotateHeads(weights, normed, position);
}

/** RoPE: rotates each pair of each head by its speed times the steps. */
function rotateHeads({ headDimension, pairSpeeds, neighbourPairs }: Weights, heads: Vector, steps: number): Vector {
  const rotated = new Float64Array(heads.length);
  for (let start = 0; start < heads.length; start += headDimension) {
    pairSpeeds.forEach((speed, pair) => {
      const [x, y] = neighbourPairs
        ? [start + 2 * pair, start + 2 * pair + 1]
        : [start + pair, start + pair + headDimension / 2];
      const [cos, sin] = [Math.cos(steps * speed), Math.sin(steps * speed)];
      rotated[x] = heads[x]! * cos - heads[y]! * sin;
      rotated[y] = heads[x]! * sin + heads[y]! * cos;
    });
  }
  return rotated;
}

function attend(weights: Weights, queries: Vector, seen: readonly Cell[], layer: number): Vector {
  const { heads, kvHeads, headDimension } = weights;
  const result = new Float64Array(heads * headDimension);
  for (let head = 0; head < heads; head++) {
    const query = row(queries, head, headDimension);
    const kvHead = Math.floor((head * kvHeads) / heads);
    const scores = seen.map(
      ({ keys }) => dot(query, row(keys[layer]!, kvHead, headDimension)) / Math.sqrt(headDimension),
    );
    const shares = softmax(scores);
    const attended = row(result, head, headDimension);
    seen.forEach(({ values }, cell) => {
      row(values[layer]!, kvHead, headDimension).forEach((number, index) => {
        attended[index] = attended[index]! + shares[cell]! * number;
      });
    });
  }
  return result;
}

function feedForward({ gate, up, down }: LayerWeights, vector: Vector): Vector {
  const opened = project(gate, vector).map((number) => number / (1 + Math.exp(-number)));
  const lifted = project(up, vector);
  return project(
    down,
    opened.map((number, index) => number * lifted[index]!),
  );
}

function rmsNorm(vector: Vector, weight: Float32Array, epsilon: number): Vector {
  const scale = 1 / Math.sqrt(dot(vector, vector) / vector.length + epsilon);
  return vector.map((number, index) => number * scale * weight[index]!);
}

/** A matrix times a vector, plus a bias. */
function project(matrix: Float32Array, vector: Vector, bias?: Float32Array): Vector {
  const inputs = vector.length;
  const outputs = new Float64Array(matrix.length / inputs);
  for (let output = 0; output < outputs.length; output++) {
    let total = bias?.[output] ?? 0;
    for (let input = 0; input < inputs; input++) total += vector[input]! * matrix[output * inputs + input]!;
    outputs[output] = total;
  }
  return outputs;
}

function softmax(scores: readonly number[]): number[] {
  const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / total);
}

function sum(a: Vector, b: Vector): Vector {
  return a.map((number, index) => number + b[index]!);
}

function dot(a: Vector, b: Vector | Float32Array): number {
  let total = 0;
  for (let index = 0; index < a.length; index++) total += a[index]! * b[index]!;
  return total;
}

function row<Numbers extends Float32Array | Vector>(matrix: Numbers, index: number, length: number): Numbers {
  return matrix.subarray(index * length, (index + 1) * length) as Numbers;
}
