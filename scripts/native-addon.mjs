import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const quiet = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 };

/** Runs a program quietly; its error holds what it printed. */
export function run(program, args, options = {}) {
  return execFileSync(program, args, { ...quiet, ...options });
}

/** True where a proof, a script that is given an addon, exits with 0. It has its own process, since a bad binary takes it down. */
export function answers(proof, addon, options = {}) {
  return spawnSync(process.execPath, ['-e', proof, addon], { ...quiet, ...options }).status === 0;
}

export function isInstalled(program) {
  return spawnSync(program, ['--version'], quiet).status === 0;
}

/**
 * Compiles an addon, proves it, and puts it in its place.
 * @param options.addon its place
 * @param options.proof as `answers` takes it
 * @param options.argumentsOf gives the arguments of the compiler, but for the output, by a folder for what it needs
 * @throws Error with the line that says why, and nothing is changed
 */
export function compileAddon(compiler, { addon, proof, argumentsOf }) {
  const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-addon-'));
  try {
    const built = join(scratch, basename(addon));
    run(compiler, [...argumentsOf(scratch), '-o', built]);
    if (!answers(proof, built)) throw new Error('what was compiled did not pass its test');
    mkdirSync(dirname(addon), { recursive: true });
    // Beside its place first: a rename across file systems fails, and one within is whole or not at all.
    const beside = `${addon}.${process.pid}`;
    writeFileSync(beside, readFileSync(built));
    renameSync(beside, addon);
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The line that says why a program failed. */
function reasonOf(error) {
  const lines = `${error.stderr ?? ''}`.trim() || error.message;
  return lines.split('\n').find((line) => /error/i.test(line)) ?? lines.split('\n')[0];
}
