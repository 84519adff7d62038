import { z } from 'zod';

/** The caller's record of a checkpoint; the engine stores its KV. */
export const checkpointSchema = z
  .object({
    /** Names the stored KV. */
    id: z.string().regex(/^[0-9a-zA-Z-]{1,100}$/),
    tokens: z.array(z.number().int()),
    bytes: z.number().int().nonnegative(),
    /** SHA-256 of the stored KV; null if the engine does not show its bytes. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
    stateIdentity: z.string(),
  })
  .readonly();

/** A saved session: plain JSON naming KV that engines with the same state identity and checkpoint folder can restore. */
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;
