import { availableParallelism, loadavg } from 'node:os';
import type { RunProbes } from '../../store/records/run-probes.ts';

type Load = NonNullable<RunProbes['load']>;

/** The load of the machine, which the check of clocks needs beside the turns. @param before the largest that was seen so far */
export function machineLoad(before: Load | undefined): Load {
  const [average = 0] = loadavg();
  return { cores: availableParallelism(), average: Math.max(before?.average ?? 0, average) };
}
