import { z } from 'zod';

const SHA_256 = /^[0-9a-f]{64}$/;

/** A checkpoint as it is written beside the engine's own copy of the bytes. */
export const checkpointSchema = z
  .object({
    /** Names the engine's copy. */
    id: z.string().regex(/^[0-9a-zA-Z-]{1,100}$/),
    /** The token at each position. */
    tokens: z.array(z.number().int()),
    bytes: z.number().int().nonnegative(),
    /** Of the bytes; null where the engine does not show them. */
    sha256: z.string().regex(SHA_256).nullable(),
    /** `EngineInfo.stateIdentity` of the engine that made it. */
    stateIdentity: z.string(),
  })
  .readonly();

/**
 * A whole session, saved where its engine keeps such things: opaque KV that only this engine, or another with the same
 * state identity and the same folder, restores. Plain JSON, so that it outlives the process.
 */
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;
