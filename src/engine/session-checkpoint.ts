import { z } from 'zod';

/** A checkpoint as it is written beside the engine's own copy of the bytes. */
export const checkpointSchema = z
  .object({
    /** Names the engine's copy. */
    id: z.string().regex(/^[0-9a-zA-Z-]{1,100}$/),
    tokens: z.array(z.number().int()),
    bytes: z.number().int().nonnegative(),
    /** Of the bytes; null where the engine does not show them. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
    stateIdentity: z.string(),
  })
  .readonly();

/** A saved session: plain JSON that names opaque KV, which engines with the same state identity and folder restore. */
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;
