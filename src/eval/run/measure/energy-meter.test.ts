import { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { TemporaryFolder } from '../../../base/temporary-folder.ts';
import { EnergyMeter } from './energy-meter.ts';

it('adds the energy of all packages, also when a counter starts again, and knows none without counters', () => {
  using folder = new TemporaryFolder();
  const count = (name: string, microjoules: number) => {
    mkdirSync(join(folder.path, name), { recursive: true });
    writeFileSync(join(folder.path, name, 'energy_uj'), `${microjoules}\n`);
    writeFileSync(join(folder.path, name, 'max_energy_range_uj'), '10000000\n');
  };
  using none = new EnergyMeter({ powercap: folder.path, nvidiaSmi: 'no-such-program' });
  expect(none.joules()).toBeNull();
  count('intel-rapl:0', 9_000_000);
  count('intel-rapl:1', 1_000_000);
  count('intel-rapl:2', 7_000_000);
  writeFileSync(join(folder.path, 'intel-rapl:2', 'name'), 'psys\n');
  // A part of package 0.
  count('intel-rapl:0:0', 5_000_000);
  using meter = new EnergyMeter({ powercap: folder.path, nvidiaSmi: 'no-such-program' });
  expect(meter.joules()).toBe(0);
  count('intel-rapl:0', 500_000);
  count('intel-rapl:1', 3_000_000);
  count('intel-rapl:2', 9_000_000);
  count('intel-rapl:0:0', 6_000_000);
  expect(meter.joules()).toBeCloseTo(1.5 + 2);
});

it('sends no signal if the program that samples power does not exist', () => {
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
  new EnergyMeter({ nvidiaSmi: 'no-such-program' })[Symbol.dispose]();
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});

it('adds the power of all boards over time', async () => {
  using folder = new TemporaryFolder();
  const nvidiaSmi = join(folder.path, 'nvidia-smi');
  writeFileSync(nvidiaSmi, '#!/bin/sh\nprintf "0, 100.00\\n1, [N/A]\\n2, 300.00\\n"\nexec sleep 60\n', { mode: 0o700 });
  using meter = new EnergyMeter({ powercap: folder.path, nvidiaSmi });
  while (meter.joules() === null) await setTimeout(1);
  const [start, before] = [performance.now(), meter.joules()!];
  await setTimeout(50);
  const watts = (1000 * (meter.joules()! - before)) / (performance.now() - start);
  expect(watts).toBeGreaterThan(360);
  expect(watts).toBeLessThan(440);
});
