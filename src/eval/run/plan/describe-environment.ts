import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { packageJson } from '../../../base/package-json.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** What git says of this checkout; null without one: an installed program may lie in another project's repository. */
function git(...args: string[]): string | null {
  if (!existsSync(`${root}/.git`)) return null;
  try {
    return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

/** The program, its commit, Node and the machine. */
export function describeEnvironment() {
  const lockfile = `${root}/package-lock.json`;
  const status = git('status', '--porcelain', '--untracked-files=no');
  return {
    benchVersion: packageJson.version,
    gitCommit: git('rev-parse', 'HEAD'),
    gitDirty: status === null ? null : status !== '',
    lockfileSha256: existsSync(lockfile) ? createHash('sha256').update(readFileSync(lockfile)).digest('hex') : null,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
}
