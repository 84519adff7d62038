import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const SAMPLE_MS = 20;

/**
 * Adds up the energy of the processor packages, which Linux counts by RAPL, and of NVIDIA's boards. nvidia-smi tells their power but
 * not their energy, so that power is sampled every 20 ms and taken as constant in between; some boards average it over a second.
 */
export class EnergyMeter implements Disposable {
  readonly #packages: readonly string[];
  /** Last reading and sum of each package, in joules. */
  readonly #counted = new Map<string, { last: number; sum: number }>();
  readonly #sampler: ChildProcess;
  /** Power of each board, in watts. */
  readonly #watts = new Map<string, number>();
  #boardJoules = 0;
  #sampledAt = 0;

  constructor({ powercap = '/sys/class/powercap', nvidiaSmi = 'nvidia-smi' } = {}) {
    const names = existsSync(powercap) ? readdirSync(powercap) : [];
    const zones = names.filter((name) => /^intel-rapl:\d+$/.test(name)).map((name) => join(powercap, name));
    this.#packages = zones.filter((zone) => !isWholePlatform(zone));
    const query = ['--query-gpu=index,power.draw', '--format=csv,noheader,nounits', `--loop-ms=${SAMPLE_MS}`];
    this.#sampler = spawn(nvidiaSmi, query, { stdio: ['ignore', 'pipe', 'ignore'] });
    // Most machines have no such program.
    this.#sampler.on('error', () => undefined);
    createInterface({ input: this.#sampler.stdout! }).on('line', (line) => this.#addSample(line));
  }

  /** Energy since an arbitrary start; null if the system counts none, or only for the superuser. */
  joules(): number | null {
    this.#addBoardEnergy();
    const packages = this.#packages.map((path) => this.#packageJoules(path));
    const known = packages.filter((joules) => joules !== null);
    if (known.length < packages.length || known.length + this.#watts.size === 0) return null;
    return known.reduce((sum, one) => sum + one, this.#boardJoules);
  }

  [Symbol.dispose](): void {
    // Without a process, Node sends the signal to an arbitrary id, which may be that of this process group.
    if (this.#sampler.pid !== undefined) this.#sampler.kill();
  }

  /** The counter of a package starts again at 0 after some minutes of full load. */
  #packageJoules(path: string): number | null {
    try {
      const [now, range] = ['energy_uj', 'max_energy_range_uj'].map(
        (name) => Number(readFileSync(join(path, name), 'utf8')) / 1e6,
      );
      const { last, sum } = this.#counted.get(path) ?? { last: now!, sum: 0 };
      const counted = { last: now!, sum: sum + now! - last + (now! < last ? range! : 0) };
      this.#counted.set(path, counted);
      return counted.sum;
    } catch {
      return null;
    }
  }

  #addSample(line: string): void {
    const [board, watts] = line.split(', ');
    if (!Number.isFinite(Number(watts))) return;
    this.#addBoardEnergy();
    this.#watts.set(board!, Number(watts));
  }

  #addBoardEnergy(): void {
    const now = performance.now();
    const watts = [...this.#watts.values()].reduce((sum, one) => sum + one, 0);
    this.#boardJoules += (watts * (now - this.#sampledAt)) / 1000;
    this.#sampledAt = now;
  }
}

/** True for a zone that contains the packages, as many laptops have one. */
function isWholePlatform(zone: string): boolean {
  const file = join(zone, 'name');
  return existsSync(file) && readFileSync(file, 'utf8').trim() === 'psys';
}
