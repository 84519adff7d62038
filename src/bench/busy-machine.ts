import { existsSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { readToEnd } from '../base/read-remove-rename-files.ts';

const STEPS = 8;
const WORK = 400_000;
/** The system counts CPU time in ticks of some 10 ms. */
const WATCHED_MS = 400;
/** Thresholds above which the times of a run cannot be trusted. */
const MOST = { loadPerCore: 0.75, others: 0.2, stolen: 0.05, slowdown: 1.6 };

/** What else uses the machine. */
export interface MachineUse {
  readonly cores: number;
  /** Load average of the last minute, which a program that has ended still raises. */
  readonly load: number;
  /** Share of all cores' time that other programs take now; 0 where the load is low. */
  readonly others: number;
  /** Share of CPU time that the host of a virtual machine took; null where the system does not tell it. */
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

/** Cumulative CPU time of all programs and of this one, in ms. */
function busyTimes(): { readonly all: number; readonly own: number } {
  const all = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  const { user, system } = process.cpuUsage();
  return { all, own: (user + system) / 1000 };
}

function timeWork(): number {
  const started = performance.now();
  let value = 1;
  for (let step = 0; step < WORK; step++) value = Math.imul(value ^ step, 0x9e3779b1);
  return value === 0 ? 0 : performance.now() - started;
}

/** Share of all cores' time that other programs take while this one works on one of them. */
function shareOfOthers(cores: number): number {
  const [started, before] = [performance.now(), busyTimes()];
  while (performance.now() - started < WATCHED_MS) timeWork();
  const [ms, after] = [performance.now() - started, busyTimes()];
  return Math.max(0, (after.all - before.all - (after.own - before.own)) / (cores * ms));
}

/** Measures for about 100 ms what else uses the machine, and longer if its load is high. */
export function machineUse(): MachineUse {
  timeWork();
  const before = cpuTimes();
  const times = Array.from({ length: STEPS }, () => Math.min(timeWork(), timeWork()));
  const after = cpuTimes();
  const cores = availableParallelism();
  const [load = 0] = loadavg();
  const all = before === null || after === null ? 0 : after.all - before.all;
  return {
    cores,
    load,
    others: load > MOST.loadPerCore * cores ? shareOfOthers(cores) : 0,
    stolen: all === 0 ? null : (after!.stolen - before!.stolen) / all,
    slowdown: Math.max(...times) / Math.min(...times),
  };
}

export const busyMachine = 'the machine is busy';

/** A note that the machine is busy, with what to do; null if it is not. */
export function busyMachineNote({ cores, load, others, stolen, slowdown }: MachineUse): string | null {
  const signs = [
    ...(others > MOST.others ? [`load ${load.toFixed(1)} on ${cores} cores`] : []),
    ...((stolen ?? 0) > MOST.stolen ? [`its host takes ${(stolen! * 100).toFixed(0)} % of its time`] : []),
    ...(slowdown > MOST.slowdown ? [`equal work takes up to ${slowdown.toFixed(1)} times as long`] : []),
  ];
  if (signs.length === 0) return null;
  return `${busyMachine} (${signs.join(', ')}): end other programs and run again, or trust only ratios of this run`;
}
