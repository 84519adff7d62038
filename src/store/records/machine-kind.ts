import { z } from 'zod';
import { list, object } from './schemas.ts';

/** A kind of machine, with the build of its engine, and the users whose turns it took. */
export const machineKind = object({
  platform: z.string(),
  cpu: z.string(),
  cores: z.number(),
  threads: z.number(),
  engine: z.string(),
  /** Versions and options of the engine's build. */
  build: z.record(z.string(), z.string()).readonly(),
  /** Ids of the users. */
  users: list(z.string()),
  turns: z.number(),
});

export type MachineKind = z.output<typeof machineKind>;
