import { z } from 'zod';
import { engineAudit } from './engine-audit.ts';
import { isolationProbe, runProbes } from './run-probes.ts';
import { userShare } from './user-share.ts';

const rows = z.array(z.record(z.string(), z.unknown()).readonly()).readonly();

/** The state of a worker when a unit was done, over all that it has done. */
const workerState = {
  /** Books since the unit before; counts so far. */
  share: userShare,
  load: runProbes.unwrap().shape.load.unwrap(),
  audit: engineAudit.exactOptional(),
};

/** Results of a user whose questions were all asked: what their rows in a database hold, and nothing of the run. */
export const userBundle = z
  .object({
    userId: z.string(),
    turns: rows,
    sessions: z.array(z.object({ id: z.string(), createdAt: z.number() }).readonly()).readonly(),
    /** As columns; a vector is float32, little-endian, in base64. */
    memories: rows,
    userPreferences: rows,
    conversations: rows,
    auditLogs: rows,
    /** Texts of the tokens of the prompts, by id. */
    pieces: z.array(z.tuple([z.number(), z.string()]).readonly()).readonly(),
    ...workerState,
  })
  .readonly();

/** Results of the isolation probe, which a run makes once. */
export const isolationBundle = z.object({ isolation: isolationProbe.nullable(), ...workerState }).readonly();

export type UserBundle = z.output<typeof userBundle>;
export type IsolationBundle = z.output<typeof isolationBundle>;
