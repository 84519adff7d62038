import { z } from 'zod';
import { list, object } from './schemas.ts';
import { engineAudit } from './engine-audit.ts';
import { isolationProbe, runProbes } from './run-probes.ts';
import { userShare } from './user-share.ts';

const rows = list(z.record(z.string(), z.unknown()).readonly());

/** The state of a worker when a unit was done, over all that it has done. */
const workerState = {
  /** Books since the unit before; counts so far. */
  share: userShare,
  load: runProbes.unwrap().shape.load.unwrap(),
  audit: engineAudit.exactOptional(),
};

/** Results of a user whose questions were all asked: what their rows in a database hold, and nothing of the run. */
export const userBundle = object({
  userId: z.string(),
  turns: rows,
  sessions: list(object({ id: z.string(), createdAt: z.number() })),
  /** As columns; a vector is float32, little-endian, in base64. */
  memories: rows,
  userPreferences: rows,
  conversations: rows,
  auditLogs: rows,
  /** Texts of the tokens of the prompts, by id. */
  pieces: list(z.tuple([z.number(), z.string()]).readonly()),
  ...workerState,
});

/** Results of the isolation probe, which a run makes once. */
export const isolationBundle = object({ isolation: isolationProbe.nullable(), ...workerState });

export type UserBundle = z.output<typeof userBundle>;
export type IsolationBundle = z.output<typeof isolationBundle>;
