import type { EnteredWorker, FailedAttempt, QueuedRun } from '../store/queue/queue-reader.ts';

/** A worker as `status` shows it. */
export interface ShownWorker extends Omit<EnteredWorker, 'environment' | 'probes'> {
  readonly cpu: string;
  readonly cores: number;
  readonly platform: string;
  readonly threads: number;
}

/** The state of a run of a queue. */
export interface RunStatus {
  readonly progress: QueuedRun;
  readonly workers: readonly ShownWorker[];
  readonly failures: readonly FailedAttempt[];
}

/** The runs of a queue for readers, a line each thing. */
export function statusLines(address: string, runs: readonly RunStatus[]): string[] {
  if (runs.length === 0) return [`${address} holds no run; plan one: dki-bench plan --queue …`];
  return runs.flatMap((run, index) => [...(index === 0 ? [] : ['']), ...linesOf(run)]);
}

function linesOf({ progress, workers, failures }: RunStatus): string[] {
  const { name, stored, users, turns, ofTurns, underWay, failed, isProbed, bytes } = progress;
  const whole = stored === users && isProbed;
  const parts = [
    `${stored} of ${users} users`,
    `${turns} of ${ofTurns} turns`,
    ...(whole ? [`complete: dki-bench merge --queue … --run ${name}`] : [`${underWay} under way`]),
    ...(stored === users && !isProbed ? ['the isolation probe is missing'] : []),
    ...(failed === 0 ? [] : [`${failed} failed too often: plan the run again to ask them once more`]),
    `${(bytes / 2 ** 20).toFixed(1)} MiB`,
  ];
  return [
    `${name}: ${parts.join(', ')}`,
    ...workers.map(
      ({ host, pid, state, users: own, turns: taken, cpu, cores, threads }) =>
        `  ${host} (process ${pid}): ${state}; ${own} users, ${taken} turns; ${cpu}, ${cores} cores, ${threads} threads`,
    ),
    ...failures.map(
      ({ userId, host, reason, at }) =>
        `  failed at ${at.toISOString().slice(0, 19)} on ${host}: ${userId ?? 'the isolation probe'}: ${reason}`,
    ),
  ];
}
