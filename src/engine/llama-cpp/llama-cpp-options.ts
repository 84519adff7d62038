import { z } from 'zod';
import { gpuNames, onOff } from '../../config/bench-config.ts';

/** Options that are llama.cpp's alone; names and meanings are those of the command line. */
export const llamaCppOptions = z.strictObject({
  /** The device that computes layers. Default: off, on the CPU. */
  gpu: z.enum(gpuNames).exactOptional(),
  /** Layers on the accelerator, the output layer counted; the first ones stay on the CPU. Default: max. */
  gpuLayers: z.union([z.literal('max'), z.int().nonnegative()]).exactOptional(),
  /** Values are stored a row a cell with it, transposed without. Default: off. */
  flashAttention: z.enum(onOff).exactOptional(),
});

export type LlamaCppOptions = Readonly<z.output<typeof llamaCppOptions>>;
