import { BenchError } from '../config/bench-error.ts';
import type { GgufHeader } from '../llm/model-info.ts';
import { numberBytes, type NumberType } from '../llm/state-format.ts';
import { NUMBER_UNIT } from './number-code.ts';
import { unusableNumbers } from './scale-values.ts';
import { addressOf, kernels, type Rotate, workspace } from './vector-kernels.ts';

/** What is known of a model's keys: their rotation, and the size of one head. */
export type KeyShape = Pick<GgufHeader, 'rope' | 'headDimension'>;

/** Dimensions that are turned come in multiples of this: as many are stored at once. */
const DIMENSION_STEP = 8;

/** Small enough to stay in the nearest cache of a core: the kernel goes through a chunk once for each group of pairs. */
const CHUNK_BYTES = 24_576;

/** Turns keys by one distance. */
export interface KeyRotation {
  readonly shape: KeyShape;
  readonly type: NumberType;
  /** Cosine and sine of each pair, in the order in which the kernel reads them. */
  readonly table: Uint8Array;
  readonly kernel: Rotate;
}

/**
 * The rotation that moves keys by a distance of positions: R(Δ · frequencyScale · base^(−2j/n) / factor_j) on pair j of
 * the first n dimensions of each head. Angles in 64-bit floats, cosine and sine rounded once, to 32 bits.
 * @throws BenchError `bad-model` for scaled rotations other than linear, and for a number of dimensions that is no
 * multiple of 8
 * @see RoFormer, arXiv 2104.09864
 */
export function keyRotation(shape: KeyShape, distance: number, type: NumberType): KeyRotation {
  const { base, frequencyScale, dimensions, pairing, scaling, frequencyFactors } = shape.rope;
  if (scaling !== 'none' && scaling !== 'linear') {
    throw unmovable(`keys with ${scaling} RoPE scaling cannot be re-positioned`);
  }
  if (dimensions % DIMENSION_STEP !== 0 || dimensions > shape.headDimension) {
    throw unmovable(
      `${dimensions} of ${shape.headDimension} dimensions of a key are turned, which is no multiple of ${DIMENSION_STEP}`,
    );
  }
  const pairs = dimensions / 2;
  const table = new Float32Array(pairing === 'norm' ? 2 * dimensions : dimensions);
  for (let pair = 0; pair < pairs; pair++) {
    const frequency = (frequencyScale * base ** ((-2 * pair) / dimensions)) / (frequencyFactors?.[pair] ?? 1);
    const [cosine, sine] = [Math.cos(distance * frequency), Math.sin(distance * frequency)];
    if (pairing === 'neox') {
      table[pair] = cosine;
      table[pairs + pair] = sine;
    } else {
      table.fill(cosine, 2 * pair, 2 * pair + 2);
      table[dimensions + 2 * pair] = -sine;
      table[dimensions + 2 * pair + 1] = sine;
    }
  }
  const inUnits = table.map((value) => value * NUMBER_UNIT[type]);
  const kernel = kernels[`rotate${pairing === 'norm' ? 'Norm' : 'Neox'}${type}`];
  return { shape, type, table: new Uint8Array(inUnits.buffer), kernel };
}

/**
 * Turns the keys of one layer from one place into another, with one rounding. Start from the original keys always:
 * a second rounding costs about 0.01 logit in half precision.
 * @param source keys as [cell][head][dimension] @param target as long as the source; may be the source itself
 * @throws BenchError `bad-state` for keys that are not finite numbers, which llama.cpp would load without a word
 */
export function rotateKeys(source: Uint8Array, target: Uint8Array, rotation: KeyRotation): void {
  const { shape, type, table, kernel } = rotation;
  const { dimensions } = shape.rope;
  const vectorBytes = shape.headDimension * numberBytes(type);
  if (source.length % vectorBytes !== 0) {
    throw new RangeError(`${source.length} bytes of keys are no multiple of a head of ${vectorBytes} bytes`);
  }
  workspace().set(table);
  const address = addressOf(target);
  const chunkBytes = Math.max(1, Math.floor(CHUNK_BYTES / vectorBytes)) * vectorBytes;
  for (let start = 0; start < source.length; start += chunkBytes) {
    const end = Math.min(start + chunkBytes, source.length);
    target.set(source.subarray(start, end), start);
    if (kernel(address + start, address + end, vectorBytes, dimensions, 0) !== 0) throw unusableNumbers('keys');
  }
}

function unmovable(message: string): BenchError {
  return new BenchError('bad-model', message, 'use mode prefix, which moves nothing, or take another model');
}
