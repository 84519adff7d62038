import { BenchError } from '../base/bench-error.ts';
import { memoize } from '../base/memoize.ts';
import { type KvLayout, numberBytes, type Rotary } from '../engine/sequence-state.ts';
import { PARAMETERS_AT, wholeMemory } from './wasm-arena.ts';
import { kernelChoice, type Kernels, type LayerMoves, type RotationShape } from './kernels.ts';

/** Rotated dimensions must be a multiple of this: the width of a kernel's loads and stores. */
const DIMENSION_STEP = 8;
/** The kernel loads at least once from each half. */
const MIN_DIMENSIONS = 2 * DIMENSION_STEP;

/** The rotation of keys by one distance. */
export type KeyRotation = ReturnType<typeof keyRotation>;

/**
 * The rotation that moves keys by a distance Δ in positions: R(Δ · scale · base^(−2j/n) / factor_j) on pair j of the first n
 * dimensions of each head. Angles are 64-bit floats; cosine and sine are rounded once, to 32 bits, in the kernel's order.
 * @param kernels default: the kernels chosen for this process
 * @throws BenchError `bad-model` if the number of dimensions is not a multiple of 8, or less than 16
 * @see RoFormer, arXiv 2104.09864
 */
export function keyRotation(
  rotary: Rotary,
  { headDimension, keyType: type }: Pick<KvLayout, 'headDimension' | 'keyType'>,
  distance: number,
  kernels: Kernels = kernelChoice().kernels,
) {
  const { dimensions, pairing } = rotary;
  if (dimensions % DIMENSION_STEP !== 0 || dimensions < MIN_DIMENSIONS || dimensions > headDimension) {
    throw new BenchError(
      'bad-model',
      `the model rotates ${dimensions} of ${headDimension} dimensions of a key; this must be a multiple of ${DIMENSION_STEP}, at least ${MIN_DIMENSIONS}`,
      'use an arm that does not move keys, such as dki, or another model',
    );
  }
  const pairs = dimensions / 2;
  const angles = new Float32Array(pairing === 'norm' ? 2 * dimensions : dimensions);
  const frequencies = pairFrequencies(rotary);
  for (let pair = 0; pair < pairs; pair++) {
    const angle = distance * frequencies[pair]!;
    const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
    if (pairing === 'neox') {
      angles[pair] = cosine;
      angles[pairs + pair] = sine;
    } else {
      angles.fill(cosine, 2 * pair, 2 * pair + 2);
      angles[dimensions + 2 * pair] = -sine;
      angles[dimensions + 2 * pair + 1] = sine;
    }
  }
  const shape: RotationShape = { pairing, type, dimensions, headDimension };
  return { shape, angles: new Uint8Array(angles.buffer), kernels };
}

/** Radians by which one position rotates each pair. */
export const pairFrequencies = memoize(({ base, scale, dimensions, factors }: Rotary) =>
  Float64Array.from(
    { length: dimensions / 2 },
    (_, pair) => (scale * base ** ((-2 * pair) / dimensions)) / (factors?.[pair] ?? 1),
  ),
);

/**
 * Rotates keys while copying them, rounding once. Always start from the original keys: a second rounding costs about 0.01
 * logit in half precision.
 * @param moves of keys as [cell][head][dimension]
 * @throws BenchError `bad-state` if keys are not finite, which an engine might load without an error
 */
export function rotateKeys(moves: LayerMoves, { shape, angles, kernels }: KeyRotation): void {
  const { sources, targets, sizeBytes } = moves;
  const { type, dimensions, headDimension } = shape;
  const vectorBytes = headDimension * numberBytes(type);
  if (sizeBytes % vectorBytes !== 0) {
    throw new RangeError(`${sizeBytes} bytes of keys are not a multiple of a head of ${vectorBytes} bytes`);
  }
  const memory = wholeMemory();
  memory.set(angles, PARAMETERS_AT);
  if (dimensions < headDimension) {
    // The kernel writes rotated dimensions only; copy the others.
    sources.forEach((source, layer) => memory.copyWithin(targets[layer]!, source, source + sizeBytes));
  }
  if (!kernels.rotate(shape, moves, PARAMETERS_AT)) throw unusableNumbers('keys');
}

export function unusableNumbers(what: 'keys' | 'values'): BenchError {
  const message = `a KV block holds ${what} that are not finite, or too large`;
  return new BenchError('bad-state', message, 'delete it; it will be computed again');
}
