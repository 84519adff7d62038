import { z } from 'zod';

/** The making of K/V blocks where it is not the default: what each sees while it is computed, and what joining does to it. */
export const blockMaking = z
  .object({
    /** A block sees nothing, or the memory before it in the sequence besides the header. Default: the header alone. */
    context: z.enum(['none', 'previous']).exactOptional(),
    /**
     * Tokens that are put in front of every block while it is computed, the first of the prompt; their cells are dropped when
     * blocks are joined, or kept, in front of each. Default: none.
     */
    sink: z.object({ tokens: z.number().int().positive(), kept: z.boolean() }).readonly().exactOptional(),
    /** Divides what queries find in the keys of memories, before the softmax. Default 1. */
    temperature: z.number().positive().exactOptional(),
  })
  .readonly();

export type BlockMaking = z.output<typeof blockMaking>;
