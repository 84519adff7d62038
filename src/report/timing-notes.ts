import type { RunResults } from '../store/records/run-results.ts';
import { formatNumber } from '../render/format-number.ts';

const LEVEL = 0.05;

/** Notes under times that several workers, or several kinds of machine, have measured. */
export function timingNotes(run: RunResults['run']): string[] {
  const { workers } = run;
  return [
    ...(workers === undefined
      ? []
      : [`Times are under load: ${workers} workers took turns at once. They are compared within this run alone.`]),
    ...machineNotes(run),
  ];
}

function machineNotes({ machines = [], machineDifferences = [] }: RunResults['run']): string[] {
  if (machines.length < 2) return [];
  const kinds = machines.map(({ cpu, cores, users }) => `${cpu}, ${cores} cores: ${users} users`).join('; ');
  const [clearest] = [...machineDifferences].sort((a, b) => a.pAdjusted - b.pAdjusted);
  const found =
    clearest === undefined
      ? 'No difference between them could be tested.'
      : clearest.pAdjusted < LEVEL
        ? `They differ in ${clearest.metric} of ${clearest.arm} (p = ${formatNumber(clearest.pAdjusted, 3)}, Holm over ${machineDifferences.length} tests): do not pool these numbers.`
        : `No difference between them was found (${machineDifferences.length} tests, least p = ${formatNumber(clearest.pAdjusted, 2)}, Holm).`;
  return [`Turns are of ${machines.length} kinds of machine (${kinds}); each pair of turns is of one. ${found}`];
}
