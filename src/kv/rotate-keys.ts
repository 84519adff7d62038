import { BenchError } from '../base/bench-error.ts';
import { type KvLayout, numberBytes, type Rotary } from '../engine/sequence-state.ts';
import { movingKernels } from './choose-moving-kernels.ts';
import { PARAMETERS_AT, wholeMemory } from './kernel-memory.ts';
import type { LayerMoves, MovingKernels, RotationKernel } from './moving-kernels.ts';
import { unusableNumbers } from './scale-numbers.ts';

/** Dimensions that are rotated come in multiples of this: as many are read and stored at once. */
const DIMENSION_STEP = 8;
/** As many are read of each half. */
const LEAST_DIMENSIONS = 2 * DIMENSION_STEP;

/** The keys of one head. */
export type HeadKeys = Pick<KvLayout, 'headDimension' | 'keyType'>;

/** The rotation of keys by one distance. */
export interface KeyRotation {
  readonly vectorBytes: number;
  /** False where a head has numbers that are not rotated. */
  readonly isWhole: boolean;
  /** Cosines and sines in the order in which the kernel reads them. */
  readonly angles: Uint8Array;
  readonly kernel: RotationKernel;
}

/**
 * The rotation that moves keys by a distance of positions: R(Δ · scale · base^(−2j/n) / factor_j) on pair j of the first n
 * dimensions of each head. Angles in 64-bit floats, cosine and sine rounded once, to 32 bits.
 * @throws BenchError `bad-model` for a number of dimensions that is no multiple of 8, or less than 16
 * @see RoFormer, arXiv 2104.09864
 */
export function keyRotation(
  rotary: Rotary,
  head: HeadKeys,
  distance: number,
  kernels: MovingKernels = movingKernels(),
): KeyRotation {
  const { dimensions, pairing } = rotary;
  const { headDimension, keyType: type } = head;
  if (dimensions % DIMENSION_STEP !== 0 || dimensions < LEAST_DIMENSIONS || dimensions > headDimension) {
    throw new BenchError(
      'bad-model',
      `${dimensions} of ${headDimension} dimensions of a key are rotated, which is no multiple of ${DIMENSION_STEP} from ${LEAST_DIMENSIONS} on`,
      'use mode prefix, which moves nothing, or take another model',
    );
  }
  const pairs = dimensions / 2;
  const angles = new Float32Array(pairing === 'norm' ? 2 * dimensions : dimensions);
  const kernel = kernels.rotation({ pairing, type, dimensions, headDimension });
  const frequencies = frequenciesOf(rotary);
  for (let pair = 0; pair < pairs; pair++) {
    const angle = distance * frequencies[pair]!;
    const [cosine, sine] = [kernel.unit * Math.cos(angle), kernel.unit * Math.sin(angle)];
    if (pairing === 'neox') {
      angles[pair] = cosine;
      angles[pairs + pair] = sine;
    } else {
      angles.fill(cosine, 2 * pair, 2 * pair + 2);
      angles[dimensions + 2 * pair] = -sine;
      angles[dimensions + 2 * pair + 1] = sine;
    }
  }
  return {
    vectorBytes: headDimension * numberBytes(type),
    isWhole: dimensions === headDimension,
    angles: new Uint8Array(angles.buffer),
    kernel,
  };
}

const knownFrequencies = new WeakMap<Rotary, Float64Array>();

/** Radians by which one position rotates each pair. */
function frequenciesOf(rotary: Rotary): Float64Array {
  const known = knownFrequencies.get(rotary);
  if (known !== undefined) return known;
  const { base, scale, dimensions, factors } = rotary;
  const frequencies = Float64Array.from(
    { length: dimensions / 2 },
    (_, pair) => (scale * base ** ((-2 * pair) / dimensions)) / (factors?.[pair] ?? 1),
  );
  knownFrequencies.set(rotary, frequencies);
  return frequencies;
}

/**
 * Rotates the keys of some layers from one place into another, with one rounding. Start from the original keys always:
 * a second rounding costs about 0.01 logit in half precision.
 * @param moves of keys as [cell][head][dimension]
 * @throws BenchError `bad-state` for keys that are not finite numbers, which an engine may load without a word
 */
export function rotateKeys(moves: LayerMoves, { vectorBytes, isWhole, angles, kernel }: KeyRotation): void {
  const { sources, targets, sizeBytes } = moves;
  if (sizeBytes % vectorBytes !== 0) {
    throw new RangeError(`${sizeBytes} bytes of keys are no multiple of a head of ${vectorBytes} bytes`);
  }
  const memory = wholeMemory();
  memory.set(angles, PARAMETERS_AT);
  if (!isWhole) {
    // The kernel leaves alone what is not rotated.
    sources.forEach((source, layer) => memory.copyWithin(targets[layer]!, source, source + sizeBytes));
  }
  if (!kernel.rotate(moves, PARAMETERS_AT)) throw unusableNumbers('keys');
}
