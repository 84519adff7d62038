import type { RunResults } from '../store/records/run-results.ts';
import { formatNumber } from '../render/format-number.ts';

const LEVEL = 0.05;

/** Notes for times that were measured by several workers or on several kinds of machine. */
export function timingNotes(run: RunResults['run']): string[] {
  const { workers } = run;
  return [
    ...(workers === undefined
      ? []
      : [`Times were measured under load, with ${workers} workers at once: compare them only within this run.`]),
    ...machineNotes(run),
  ];
}

function machineNotes({ machines = [], machineDifferences = [] }: RunResults['run']): string[] {
  if (machines.length < 2) return [];
  const kinds = machines.map(({ cpu, cores, users }) => `${cpu}, ${cores} cores: ${users} users`).join('; ');
  const [clearest] = [...machineDifferences].sort((a, b) => a.pAdjusted - b.pAdjusted);
  const found =
    clearest === undefined
      ? 'Differences between the machines could not be tested.'
      : clearest.pAdjusted < LEVEL
        ? `The machines differ in ${clearest.metric} of ${clearest.arm} (p = ${formatNumber(clearest.pAdjusted, 3)}, Holm over ${machineDifferences.length} tests): do not pool these numbers.`
        : `No difference between the machines was found (${machineDifferences.length} tests, smallest p = ${formatNumber(clearest.pAdjusted, 2)}, Holm).`;
  return [
    `Turns ran on ${machines.length} kinds of machine (${kinds}); the turns of a user ran on one machine. ${found}`,
  ];
}
