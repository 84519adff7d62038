import type { RotationShape } from './rotation-kernel.ts';

export const movingKernelNames = ['native', 'wasm'] as const;

export type MovingKernelsName = (typeof movingKernelNames)[number];

/** Ranges of equal length in the memory of the kernels, one a layer, and the addresses where they go. */
export interface LayerMoves {
  readonly sources: readonly number[];
  /** None of them among the sources. */
  readonly targets: readonly number[];
  /** Of each range; at least 1. */
  readonly sizeBytes: number;
}

/**
 * The kernels that move a block to its place in a joined state: they rotate its keys, and spread its transposed values. They work
 * in the memory of the kernels, whatever they are compiled to, and give the same bits.
 */
export interface MovingKernels {
  readonly name: MovingKernelsName;
  /** The rotation of vectors of a shape. */
  rotation(shape: RotationShape): RotationKernel;
  /** Copies rows that lie one behind the other to where they begin so many bytes apart. */
  spreadRows(moves: LayerMoves, rowBytes: number, targetRowBytes: number): void;
}

export interface RotationKernel {
  /** The factor that cosines and sines must carry. */
  readonly unit: number;
  /**
   * Rotates vectors; numbers that are not rotated are neither read nor written. Gives false where a number is not finite, or too
   * large to be rotated.
   * @param angles address of cosines and sines, as `Rotate` has them
   */
  rotate(moves: LayerMoves, angles: number): boolean;
}
