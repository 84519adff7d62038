import { join } from 'node:path';
import { ScratchFolder } from '../../scripts/run-script.ts';
import type { BenchConfig } from '../../src/config/bench-config.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import type { CheckName, RunResults } from '../../src/store/records/run-results.ts';

/** A folder of its own for what a test writes; gone when it ends. */
export class TestFolder extends ScratchFolder {
  constructor() {
    super('test');
  }

  file(name: string): string {
    return join(this.path, name);
  }
}

/** A small run on the shipped models and data: ten users, their first three questions. */
export function smallConfig(folder: TestFolder, flags: Readonly<Record<string, unknown>> = {}): BenchConfig {
  return loadBenchConfig({
    flags: { limit: '24', out: folder.path, ...flags },
    environment: {},
    workingFolder: folder.path,
  });
}

/** The checks that a run failed. */
export function failedChecks({ checks }: RunResults): CheckName[] {
  return checks.filter(({ status }) => status === 'failed').map(({ check }) => check);
}

/** The checks that a run passed. */
export function passedChecks({ checks }: RunResults): CheckName[] {
  return checks.filter(({ status }) => status === 'passed').map(({ check }) => check);
}
