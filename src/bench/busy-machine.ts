import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { readToEnd } from '../base/read-remove-rename-files.ts';

const STEPS = 8;
const WORK = 400_000;
/** Thresholds above which the times of a run cannot be trusted. */
const MOST = { loadPerCore: 0.75, stolen: 0.05, slowdown: 1.6 };

/** What else uses the machine: load average, share of CPU time that the host of a virtual machine took, and unevenness of equal work. */
export interface MachineUse {
  readonly cores: number;
  readonly load: number;
  /** 0 to 1; null where the system does not tell it. */
  readonly stolen: number | null;
  /** The slowest of equal pieces of work ÷ the fastest. */
  readonly slowdown: number;
}

/** Cumulative CPU times from Linux; null elsewhere. @see proc(5): user, nice, system, idle, iowait, irq, softirq, steal */
function cpuTimes(): { readonly all: number; readonly stolen: number } | null {
  if (!existsSync('/proc/stat')) return null;
  const [line = ''] = readToEnd('/proc/stat').toString().split('\n', 1);
  const times = line.split(/\s+/).slice(1, 9).map(Number);
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
}

function timeWork(): number {
  const started = performance.now();
  let value = 1;
  for (let step = 0; step < WORK; step++) value = Math.imul(value ^ step, 0x9e3779b1);
  return value === 0 ? 0 : performance.now() - started;
}

/** Measures for about 100 ms what else uses the machine. */
export function machineUse(): MachineUse {
  timeWork();
  const before = cpuTimes();
  const times = Array.from({ length: STEPS }, () => Math.min(timeWork(), timeWork()));
  const after = cpuTimes();
  const all = before === null || after === null ? 0 : after.all - before.all;
  return {
    cores: availableParallelism(),
    load: loadavg()[0] ?? 0,
    stolen: all === 0 ? null : (after!.stolen - before!.stolen) / all,
    slowdown: Math.max(...times) / Math.min(...times),
  };
}

export const busyMachine = 'the machine is busy';

/** A note that the machine is busy, with what to do; null if it is not. */
export function busyMachineNote({ cores, load, stolen, slowdown }: MachineUse): string | null {
  const signs = [
    ...(load > MOST.loadPerCore * cores ? [`load ${load.toFixed(1)} on ${cores} cores`] : []),
    ...((stolen ?? 0) > MOST.stolen ? [`its host takes ${(stolen! * 100).toFixed(0)} % of its time`] : []),
    ...(slowdown > MOST.slowdown ? [`equal work takes up to ${slowdown.toFixed(1)} times as long`] : []),
  ];
  if (signs.length === 0) return null;
  return `${busyMachine} (${signs.join(', ')}): end other programs and run again, or trust only ratios of this run`;
}
