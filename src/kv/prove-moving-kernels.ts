import { numberBytes } from '../engine/sequence-state.ts';
import { PARAMETERS_AT, wholeMemory } from './kernel-memory.ts';
import type { LayerMoves, MovingKernels } from './moving-kernels.ts';
import type { RotationShape } from './rotation-kernel.ts';
import { wasmMovingKernels } from './wasm-moving-kernels.ts';
import { WorkMemory } from './work-memory.ts';

const shapes: readonly RotationShape[] = (['norm', 'neox'] as const).flatMap((pairing) =>
  (['F16', 'F32'] as const).map((type) => ({ pairing, type, dimensions: 24, headDimension: 32 })),
);
const VECTORS = 16;
/** Of each kind of length for which a kernel has code of its own. */
const ROW_BYTES = [3, 9, 20, 100];
const ROWS = 6;
/** Some more than the trials need. */
const TRIAL_BYTES = 4096;

/** Numbers below 2 in either type, subnormal ones among them. */
const trialNumbers = new Uint8Array(
  Uint16Array.from({ length: TRIAL_BYTES / 2 }, (_, index) => (index * 8191) & 0xbfff).buffer,
);

/** Compares kernels with those in WebAssembly in a small trial of each. @throws Error where a bit differs */
export function proveMovingKernels(kernels: MovingKernels): void {
  using memory = new WorkMemory();
  const [source, target] = [memory.take(TRIAL_BYTES), memory.take(TRIAL_BYTES)];
  const movesOf = (sizeBytes: number, to: number): LayerMoves => ({ sources: [source], targets: [to], sizeBytes });
  const sameAsReference = (run: (of: MovingKernels) => void): boolean => {
    const [expected, found] = [wasmMovingKernels, kernels].map((of) => {
      wholeMemory().fill(0, target, target + TRIAL_BYTES);
      run(of);
      return wholeMemory().slice(target, target + TRIAL_BYTES);
    });
    return Buffer.compare(expected!, found!) === 0;
  };
  wholeMemory().set(trialNumbers, source);
  for (const shape of shapes) {
    const sizeBytes = VECTORS * shape.headDimension * numberBytes(shape.type);
    const rotate = (of: MovingKernels): void => {
      const kernel = of.rotation(shape);
      const angles = Float32Array.from({ length: 2 * shape.dimensions }, (_, index) => kernel.unit * Math.cos(index));
      wholeMemory().set(new Uint8Array(angles.buffer), PARAMETERS_AT);
      if (!kernel.rotate(movesOf(sizeBytes, target), PARAMETERS_AT)) throw new Error('a rotation refused good keys');
    };
    if (!sameAsReference(rotate)) throw new Error(`a rotation of ${shape.pairing} ${shape.type} keys differs`);
  }
  for (const rowBytes of ROW_BYTES) {
    const spread = (of: MovingKernels): void =>
      of.spreadRows(movesOf(ROWS * rowBytes, target + 1), rowBytes, 2 * rowBytes + 1);
    if (!sameAsReference(spread)) throw new Error(`a copy of rows of ${rowBytes} bytes differs`);
  }
}
