import type { RunResults } from '../store/records/run-results.ts';

/** Notes for times that were measured by several workers or on several kinds of machine. */
export function timingNotes(run: RunResults['run']): string[] {
  const { workers } = run;
  return [
    ...(workers === undefined
      ? []
      : [
          `Times were measured under load, with ${workers} workers at once: compare them only with times under the same load.`,
        ]),
    ...machineNotes(run),
  ];
}

function machineNotes({ machines = [] }: RunResults['run']): string[] {
  if (machines.length < 2) return [];
  const kinds = machines.map(({ cpu, cores, users }) => `${cpu}, ${cores} cores: ${users} users`).join('; ');
  return [`Turns ran on ${machines.length} kinds of machine (${kinds}); the turns of a user ran on one machine.`];
}
