import type { MovingKernels } from './moving-kernels.ts';
import { NUMBER_UNIT } from './number-code.ts';
import { rotationKernel } from './rotation-kernel.ts';
import { HALF_VECTOR_BYTES, kernels } from './vector-kernels.ts';
import { VECTOR_BYTES } from './wasm-assembler.ts';

/** The kernels in WebAssembly: they run everywhere, and others must give their bits. */
export const wasmMovingKernels: MovingKernels = {
  name: 'wasm',
  rotation: (shape) => {
    const rotateLayer = rotationKernel(shape);
    return {
      unit: NUMBER_UNIT[shape.type],
      rotate: ({ sources, targets, sizeBytes }, angles) =>
        sources.every((source, layer) => rotateLayer(source, source + sizeBytes, targets[layer]!, angles) === 0),
    };
  },
  spreadRows: ({ sources, targets, sizeBytes }, rowBytes, targetRowBytes) => {
    const spread = spreadOf(rowBytes);
    sources.forEach((source, layer) => spread(source, source + sizeBytes, rowBytes, targets[layer]!, targetRowBytes));
  },
};

function spreadOf(rowBytes: number): typeof kernels.spreadRows {
  if (rowBytes >= VECTOR_BYTES) return kernels.spreadRows;
  return rowBytes >= HALF_VECTOR_BYTES ? kernels.spreadMediumRows : kernels.spreadShortRows;
}
