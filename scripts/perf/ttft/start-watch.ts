import type { TtftReading } from './rows.ts';

/** Starts to time a call; what it gives ends it. */
export function startWatch(): () => Required<Pick<TtftReading, 'callMs' | 'cpuMs'>> {
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  return () => {
    const callMs = performance.now() - start;
    const { user, system } = process.cpuUsage(cpuStart);
    return { callMs, cpuMs: (user + system) / 1000 };
  };
}
