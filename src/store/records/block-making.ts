import { z } from 'zod';
import { object } from './schemas.ts';

/** The making of KV blocks where it is not the default: what each sees while it is computed, and what joining does to it. */
export const blockMaking = object({
  /** A block sees nothing, or the memory before it in the sequence besides the header. Default: the header alone. */
  context: z.enum(['none', 'previous']).exactOptional(),
  /**
   * Tokens that are put in front of every block while it is computed, the first of the prompt; their cells are dropped when
   * blocks are joined, or kept, in front of each. Default: none.
   */
  sink: object({ tokens: z.number().int().positive(), kept: z.boolean() }).exactOptional(),
  /** Divides what queries find in the keys of memories, before the softmax. Default 1. */
  temperature: z.number().positive().exactOptional(),
});

export type BlockMaking = z.output<typeof blockMaking>;
