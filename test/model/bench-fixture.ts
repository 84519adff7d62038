import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchConfig } from '../../src/config/bench-config.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import type { CheckName, RunResults } from '../../src/store/records/results.ts';

/** A folder of its own for what a test writes; gone when it ends. */
export class TestFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'dki-bench-test-'));

  file(name: string): string {
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
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
