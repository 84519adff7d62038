import { z } from 'zod';

/** A kind of machine, with the build of its engine, and the users whose turns it took. */
export const machineKind = z
  .object({
    platform: z.string(),
    cpu: z.string(),
    cores: z.number(),
    threads: z.number(),
    engine: z.string(),
    /** Versions and options of the engine's build. */
    build: z.record(z.string(), z.string()).readonly(),
    /** Ids of the users. */
    users: z.array(z.string()).readonly(),
    turns: z.number(),
  })
  .readonly();

export type MachineKind = z.output<typeof machineKind>;
