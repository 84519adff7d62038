import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { expectMistake } from '../fixtures/program-host.ts';
import { runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');

/** Releases of the lines of Node that are promised, with the npm that came with them: the oldest of the first, the newest of the other. */
const releases = [
  ['22.14', '10'],
  ['24', '11'],
] as const;

/** Rules of the repository, and what has a binary beneath it: SQLite, FAISS, ONNX, kernels, llama.cpp, the program. */
const tests = [
  'test/contract',
  'src/store',
  'src/kv',
  'src/retrieval/vectors',
  'src/models/embedding',
  'src/engine/llama-cpp',
];

/** Lines before the oldest, which have ended. */
const TOO_OLD = ['18', '20'];

it('begin with the oldest that is supported', () => {
  const { engines, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    engines: { node: string };
    devDependencies: Record<string, string>;
  };
  const [[oldest]] = releases;
  expect(engines.node).toBe(`>=${oldest}`);
  // What compiles against its line has nothing that only a newer one has.
  expect(devDependencies['@types/node']).toMatch(new RegExp(`^${oldest.split('.')[0]}\\.`));
});

const folders = realpathSync(temporaryFolder().path);

/** A folder in which npm installed packages; a line of Node is the part of the package `node` that is for this machine. */
function installed(release: string, packages: readonly string[] = []): string {
  const folder = join(folders, release);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--no-audit', '--no-fund', `${nodePackage}@${release}`, ...packages];
  execFileSync('npm', words, { cwd: folder, stdio: 'inherit' });
  return folder;
}

/** Its program, and the headers that an addon is compiled with. */
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

it.each(TOO_OLD)('are refused in one line where they are older: %s', async (release) => {
  const node = join(installed(release), 'node_modules', nodePackage, 'bin', 'node');
  const message = String.raw`this is Node ${release}\.[\d.]+, and dki-bench needs Node 22\.14 or newer`;
  expectMistake(
    await runProcess([node, join(root, 'dist/cli/main.js'), 'bench', '--users', '10', '--limit', '8']),
    new RegExp(`^error: ${message}\n`),
  );
  for (const entry of ['index.js', 'llama-server.js']) {
    const { code, stderr } = await runProcess([node, join(root, 'dist', entry)]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^BenchError: ${message}$`, 'm'))]);
  }
});

describe.each(releases)('Node %s', (release, npm) => {
  let clone: string;
  let environment: Record<string, string>;
  const run = (...command: readonly string[]) => runProcess(command, { cwd: clone, environment });

  beforeAll(() => {
    const folder = installed(release, [`npm@${npm}`]);
    const modules = join(folder, 'node_modules');
    const path = [join(modules, nodePackage, 'bin'), join(modules, '.bin'), process.env['PATH']!].join(delimiter);
    // The level of npm's log is inherited from `npm run -s`.
    const npmSettings = { npm_config_nodedir: join(modules, nodePackage), npm_config_loglevel: 'notice' };
    environment = { PATH: path, ...npmSettings, NODE_OPTIONS: '' };
    clone = join(folder, 'clone');
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    for (const file of files.toString().split('\0').filter(Boolean)) {
      mkdirSync(dirname(join(clone, file)), { recursive: true });
      cpSync(join(root, file), join(clone, file));
    }
  });

  it('installs without a warning, and the doctor finds all that the bench needs', async () => {
    const { code, stdout, stderr } = await run('npm', 'ci', '--no-audit', '--no-fund', '--prefer-offline');
    // Where the headers are is a setting of this test, and of machines that reach no others.
    const warnings = stderr
      .split('\n')
      .filter((line) => /warn|error/i.test(line) && !line.includes('config "nodedir"'));
    expect(warnings).toEqual([]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^added \d+ packages/m)]);
    const doctor = await run('node', 'dist/cli/main.js', 'doctor');
    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining(`Node ${release}.`)]);
  });

  it('passes the tests of rules and of binaries', async () => {
    // Not by npx, which would take the Node that the clone brings.
    const projects = ['parts', 'alone'].map((name) => `--project=${name}`);
    const { code, stdout, stderr } = await run('node', 'node_modules/vitest/vitest.mjs', 'run', ...projects, ...tests);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout).toMatch(/Tests +\d{3,} passed/);
  });

  it('benches ten users', async () => {
    const words = ['--users', '10', '--limit', '20', '--arms', 'rag,dki', '--json'];
    const { code, stdout, stderr } = await run('node', 'dist/cli/main.js', 'bench', ...words);
    expect(code, stderr).toBe(0);
    const { run: description, checks } = JSON.parse(stdout) as RunResults;
    expect(description.environment['node']).toMatch(new RegExp(`^v${release.replace('.', '\\.')}\\.`));
    expect([description.status, description.dataset.users]).toEqual(['finished', 10]);
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
  });
});
