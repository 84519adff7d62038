import { expect, test } from 'vitest';
import { busyMachineNote, machineUse } from './busy-machine.ts';

const quiet = { cores: 4, load: 0.5, others: 0.1, stolen: 0, slowdown: 1.1 };

test('a machine is busy by its load, by its host, or by uneven work', () => {
  expect(busyMachineNote(quiet)).toBeNull();
  expect(busyMachineNote({ ...quiet, stolen: null })).toBeNull();
  // What has just ended still raises the load.
  expect(busyMachineNote({ ...quiet, load: 3.5 })).toBeNull();
  expect(busyMachineNote({ ...quiet, load: 3.5, others: 0.5 })).toContain('(load 3.5 on 4 cores)');
  expect(busyMachineNote({ ...quiet, stolen: 0.12, slowdown: 2.15 })).toContain(
    '(its host takes 12 % of its time, equal work takes up to 2.1 times as long)',
  );
});

test('the use of this machine is measured', () => {
  const { cores, load, others, slowdown } = machineUse();
  expect(cores).toBeGreaterThan(0);
  expect(load).toBeGreaterThanOrEqual(0);
  expect(others).toBeGreaterThanOrEqual(0);
  expect(slowdown).toBeGreaterThanOrEqual(1);
});
