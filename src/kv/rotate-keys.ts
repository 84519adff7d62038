import { BenchError } from '../config/bench-error.ts';
import type { GgufHeader } from '../llm/model-info.ts';
import { numberBytes, type NumberType } from '../llm/state-format.ts';
import { PARAMETERS_AT, wholeMemory } from './kernel-memory.ts';
import { NUMBER_UNIT } from './number-code.ts';
import { type Rotate, rotationKernel } from './rotation-kernel.ts';
import { unusableNumbers } from './scale-values.ts';

/** What is known of a model's keys: their rotation, and the size of one head. */
export type KeyShape = Pick<GgufHeader, 'rope' | 'headDimension'>;

/** Dimensions that are turned come in multiples of this: as many are read and stored at once. */
const DIMENSION_STEP = 8;
/** As many are read of each half. */
const LEAST_DIMENSIONS = 2 * DIMENSION_STEP;

/** Turns keys by one distance. */
export interface KeyRotation {
  readonly shape: KeyShape;
  readonly type: NumberType;
  /** Cosines and sines in the order in which the kernel reads them. */
  readonly angles: Uint8Array;
  readonly kernel: Rotate;
}

/**
 * The rotation that moves keys by a distance of positions: R(Δ · frequencyScale · base^(−2j/n) / factor_j) on pair j of
 * the first n dimensions of each head. Angles in 64-bit floats, cosine and sine rounded once, to 32 bits.
 * @throws BenchError `bad-model` for scaled rotations other than linear, and for a number of dimensions that is no
 * multiple of 8, or less than 16
 * @see RoFormer, arXiv 2104.09864
 */
export function keyRotation(shape: KeyShape, distance: number, type: NumberType): KeyRotation {
  const { dimensions, pairing, scaling } = shape.rope;
  if (scaling !== 'none' && scaling !== 'linear') {
    throw unmovable(`keys with ${scaling} RoPE scaling cannot be re-positioned`);
  }
  if (dimensions % DIMENSION_STEP !== 0 || dimensions < LEAST_DIMENSIONS || dimensions > shape.headDimension) {
    throw unmovable(
      `${dimensions} of ${shape.headDimension} dimensions of a key are turned, which is no multiple of ${DIMENSION_STEP} from ${LEAST_DIMENSIONS} on`,
    );
  }
  const pairs = dimensions / 2;
  const angles = new Float32Array(pairing === 'norm' ? 2 * dimensions : dimensions);
  const unit = NUMBER_UNIT[type];
  const frequencies = frequenciesOf(shape.rope);
  for (let pair = 0; pair < pairs; pair++) {
    const angle = distance * frequencies[pair]!;
    const [cosine, sine] = [unit * Math.cos(angle), unit * Math.sin(angle)];
    if (pairing === 'neox') {
      angles[pair] = cosine;
      angles[pairs + pair] = sine;
    } else {
      angles.fill(cosine, 2 * pair, 2 * pair + 2);
      angles[dimensions + 2 * pair] = -sine;
      angles[dimensions + 2 * pair + 1] = sine;
    }
  }
  const kernel = rotationKernel({ pairing, type, dimensions, headDimension: shape.headDimension });
  return { shape, type, angles: new Uint8Array(angles.buffer), kernel };
}

const knownFrequencies = new WeakMap<KeyShape['rope'], Float64Array>();

/** How far one position turns each pair, in radians. */
function frequenciesOf(rope: KeyShape['rope']): Float64Array {
  const known = knownFrequencies.get(rope);
  if (known !== undefined) return known;
  const { base, frequencyScale, dimensions, frequencyFactors } = rope;
  const frequencies = Float64Array.from(
    { length: dimensions / 2 },
    (_, pair) => (frequencyScale * base ** ((-2 * pair) / dimensions)) / (frequencyFactors?.[pair] ?? 1),
  );
  knownFrequencies.set(rope, frequencies);
  return frequencies;
}

/**
 * Turns the keys of some layers from one place into another, with one rounding. Start from the original keys always:
 * a second rounding costs about 0.01 logit in half precision.
 * @param sources addresses of keys as [cell][head][dimension], one a layer, in the memory of the kernels
 * @param targets as many addresses; none of them among the sources @param sizeBytes of the keys of each layer
 * @throws BenchError `bad-state` for keys that are not finite numbers, which llama.cpp would load without a word
 */
export function rotateKeys(
  sources: readonly number[],
  targets: readonly number[],
  sizeBytes: number,
  rotation: KeyRotation,
): void {
  const { shape, type, angles, kernel } = rotation;
  const { dimensions } = shape.rope;
  const vectorBytes = shape.headDimension * numberBytes(type);
  if (sizeBytes % vectorBytes !== 0) {
    throw new RangeError(`${sizeBytes} bytes of keys are no multiple of a head of ${vectorBytes} bytes`);
  }
  const memory = wholeMemory();
  memory.set(angles, PARAMETERS_AT);
  sources.forEach((source, layer) => {
    const target = targets[layer]!;
    const end = source + sizeBytes;
    // The kernel leaves alone what is not turned.
    if (dimensions < shape.headDimension) memory.copyWithin(target, source, end);
    if (kernel(source, end, target, PARAMETERS_AT) !== 0) throw unusableNumbers('keys');
  });
}

function unmovable(message: string): BenchError {
  return new BenchError('bad-model', message, 'use mode prefix, which moves nothing, or take another model');
}
