import { z } from 'zod';
import { gpuNames, onOff } from '../../config/bench-config.ts';

/** Options of the llama-cpp adapter, named as on the command line. */
export const llamaCppOptions = z.strictObject({
  /** Accelerator backend. Default: off, which means the CPU. */
  gpu: z.enum(gpuNames).exactOptional(),
  /** Layers on the accelerator, counting the output layer; the first layers stay on the CPU. Default: max. */
  gpuLayers: z.union([z.literal('max'), z.int().nonnegative()]).exactOptional(),
  /** Also decides the layout: values are stored by cell if on, transposed if off. Default: off. */
  flashAttention: z.enum(onOff).exactOptional(),
});

export type LlamaCppOptions = Readonly<z.output<typeof llamaCppOptions>>;
