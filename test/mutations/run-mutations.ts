/**
 * Plants the faults of `faults.ts`, one at a time, in copies of the tree, and tries each by a run of 24 questions and by the tests
 * that are about it: `npm run test:mutations [-- --class clock] [--only TEXT] [--fresh]`. What was tried stays in `build/mutations.json`,
 * so that an interrupted test goes on where it ended. Exits with 1 if a fault passes both, with 2 if one no longer fits the source.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fault, faults } from './faults.ts';

const root = join(import.meta.dirname, '../..');
const stateFile = join(root, 'build/mutations.json');
/** A fault may make a run or a test wait for ever. */
const RUN_MS = 300_000;
/** `dki-blocks` among them, which errs: a fault in scoring changes nothing where every answer is right. */
const ARMS = 'oracle,rag,rag-cached,dki,dki-blocks';

/** What a fault came to: the checks or the tests that found it, or neither. */
interface Outcome {
  readonly found: 'run' | 'test' | 'none' | 'stale';
  readonly by: string;
  readonly seconds: number;
}

const { values: options } = parseArgs({
  options: {
    class: { type: 'string' },
    only: { type: 'string' },
    fresh: { type: 'boolean' },
  },
});

const git = (...given: string[]): string =>
  execFileSync('git', given, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
const files = git('ls-files', '-co', '--exclude-standard')
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

/** A fault that was found is tried again where its file or its tests have changed. */
function keyOf(fault: Fault): string {
  const hash = createHash('sha256').update(JSON.stringify(fault));
  for (const file of [fault.file, ...testsOf(fault)]) {
    const path = join(root, file);
    if (existsSync(path) && statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
}

/** A copy of the tree; what is installed and built is shared. */
function copyTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dki-mutations-'));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), readFileSync(join(root, file)));
  }
  for (const shared of ['node_modules', 'build', 'dist']) symlinkSync(join(root, shared), join(folder, shared));
  return folder;
}

/** Runs a command in a copy; null where it did not end in time. */
function run(
  folder: string,
  command: readonly string[],
): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
    timeout: RUN_MS,
    killSignal: 'SIGKILL',
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, text }));
  });
}

/** The names of the checks that failed in a run; its exit code where it printed none. */
async function failedChecks(folder: string, flags: readonly string[] = []): Promise<readonly string[]> {
  const out = join(folder, 'out');
  rmSync(out, { recursive: true, force: true });
  const asked = ['--dataset', 'recall-en', '--limit', '24', '--arms', ARMS];
  const words = ['bench', ...asked, '--out', out, '--run', 'm', ...flags];
  const { code, text } = await run(folder, [process.execPath, '--import', 'tsx', 'src/cli/main.ts', ...words]);
  if (code === 0) return [];
  const failed = [...text.matchAll(/^(\S.*?)\s+✗/gm)].map(([, check]) => check!);
  return failed.length > 0 ? [...new Set(failed)] : [`exit ${code}`];
}

/** The tests beside the file, and those that the fault names. */
function testsOf({ file, tests = [] }: Fault): string[] {
  const beside = file.replace(/\.ts$/, '.test.ts');
  return [...new Set([...(files.includes(beside) ? [beside] : []), ...tests])];
}

async function failedTests(folder: string, tests: readonly string[]): Promise<readonly string[]> {
  if (tests.length === 0) return [];
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const { code, text } = await run(folder, [process.execPath, vitest, 'run', '--project', 'parts', ...tests]);
  if (code === 0) return [];
  const failed = [...text.matchAll(/FAIL\s+(?:\|parts\|\s+)?(\S+)/g)].map(([, file]) => file!);
  return failed.length > 0 ? [...new Set(failed)] : [`exit ${code}`];
}

async function tryFault(folder: string, fault: Fault): Promise<Outcome> {
  const start = performance.now();
  const path = join(folder, fault.file);
  const text = readFileSync(path, 'utf8');
  const seconds = (): number => Math.round((performance.now() - start) / 1000);
  const missing = testsOf(fault).find((test) => !existsSync(join(folder, test)));
  const why = text.split(fault.find).length === 2 ? missing && `no ${missing}` : `${fault.file} does not hold it once`;
  if (why !== undefined) return { found: 'stale', by: why, seconds: 0 };
  writeFileSync(
    path,
    text.replace(fault.find, () => fault.replace),
  );
  try {
    const checks = fault.run === false ? [] : await failedChecks(folder, fault.run);
    if (checks.length > 0) return { found: 'run', by: checks.join(', '), seconds: seconds() };
    const tests = await failedTests(folder, testsOf(fault));
    return { found: tests.length > 0 ? 'test' : 'none', by: tests.join(', '), seconds: seconds() };
  } finally {
    writeFileSync(path, text);
  }
}

const stored = (): Record<string, Outcome> =>
  existsSync(stateFile) ? (JSON.parse(readFileSync(stateFile, 'utf8')) as Record<string, Outcome>) : {};
const known = options.fresh ? {} : stored();
const wanted = faults.filter(
  (fault) =>
    (options.class === undefined || fault.class === options.class) &&
    (options.only === undefined || fault.name.includes(options.only)),
);
// Of the tree as it is copied: it may change while faults are tried.
const keys = new Map(wanted.map((fault) => [fault, keyOf(fault)]));
// What nothing found is tried again: a check elsewhere may find it now.
const left = wanted.filter((fault) => !['run', 'test'].includes(known[keys.get(fault)!]?.found ?? ''));
// Clocks are read on a machine that is as quiet as it gets.
const [alone, together] = [true, false].map((is) => left.filter((fault) => (fault.class === 'clock') === is));
const lanes = Math.min(2, cpus().length);
const folders = Array.from({ length: lanes }, copyTree);

async function tryAll(queue: readonly Fault[], used: readonly string[]): Promise<void> {
  const waiting = [...queue];
  await Promise.all(
    used.map(async (folder) => {
      for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
        const outcome = await tryFault(folder, fault);
        known[keys.get(fault)!] = outcome;
        mkdirSync(dirname(stateFile), { recursive: true });
        writeFileSync(stateFile, JSON.stringify({ ...stored(), ...known }, null, 1));
        console.log(`${outcome.found.padEnd(5)} ${fault.class}: ${fault.name} (${outcome.by}; ${outcome.seconds} s)`);
      }
    }),
  );
}

try {
  const control = await failedChecks(folders[0]!);
  if (control.length > 0) throw new Error(`without a fault the run fails: ${control.join(', ')}`);
  await tryAll(together!, folders);
  await tryAll(alone!, folders.slice(0, 1));
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

const outcomes = wanted.map((fault) => ({ fault, outcome: known[keys.get(fault)!] }));
const count = (name: string, found: Outcome['found']): number =>
  outcomes.filter(({ fault, outcome }) => fault.class === name && outcome?.found === found).length;
for (const name of new Set(wanted.map((fault) => fault.class))) {
  const [byRun, byTest, passed] = (['run', 'test', 'none'] as const).map((found) => count(name, found));
  console.log(`${name.padEnd(14)} ${byRun} by a run, ${byTest} by a test, ${passed} by neither`);
}
const stale = outcomes.filter(({ outcome }) => outcome?.found === 'stale');
const passed = outcomes.filter(({ outcome }) => outcome?.found === 'none');
for (const { fault, outcome } of [...stale, ...passed]) console.log(`${outcome!.found}: ${fault.class}: ${fault.name}`);
process.exitCode = stale.length > 0 ? 2 : passed.length > 0 ? 1 : 0;
