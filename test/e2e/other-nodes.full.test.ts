import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunResults } from '../../src/records/results.ts';
import { runProcess } from '../fixtures/run-process.ts';

const root = join(import.meta.dirname, '../..');

/**
 * The lines of Node that are promised: the newest release, and the npm that came with the first. SQLite that is compiled for 24.19 and
 * above ends the process when a statement is collected (nodejs/node#65446), until better-sqlite3 13, which needs Node 22.
 */
const lines = { 20: ['20', '10'], 22: ['22', '10'], 24: ['24.18', '11'] } as const;

/** Rules of the repository, and what has a binary beneath it: SQLite, FAISS, usearch, ONNX, kernels, llama.cpp, the program. */
const tests = ['test/contract', 'src/db', 'src/kv', 'src/retrieval/vectors', 'src/embedding', 'src/engine/llama-cpp'];

const others = Object.entries(lines).filter(([major]) => major !== process.versions.node.split('.')[0]);

it('are all but the one that runs this', () => {
  const { engines, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    engines: { node: string };
    devDependencies: Record<string, string>;
  };
  const [oldest] = Object.keys(lines);
  expect(others).toHaveLength(Object.keys(lines).length - 1);
  // What compiles against the oldest has nothing that only a newer one has.
  expect([engines.node, devDependencies['@types/node']]).toEqual([
    expect.stringMatching(`^>=${oldest!}\\.`),
    expect.stringMatching(`^${oldest!}\\.`),
  ]);
});

describe.each(others)('Node %s', (major, [release, npm]) => {
  let folder: string;
  let clone: string;
  let environment: Record<string, string>;
  const run = (...command: readonly string[]) => runProcess(command, { cwd: clone, environment });

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), `dki-node-${major}-`)));
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    // The part of the package `node` that is for this machine: the program, and the headers that an addon is compiled with.
    const node = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
    const words = ['install', '--no-audit', '--no-fund', `${node}@${release}`, `npm@${npm}`];
    execFileSync('npm', words, { cwd: folder, stdio: 'inherit' });
    const modules = join(folder, 'node_modules');
    const path = [join(modules, node, 'bin'), join(modules, '.bin'), process.env['PATH']!].join(delimiter);
    environment = { PATH: path, npm_config_nodedir: join(modules, node), NODE_OPTIONS: '' };
    clone = join(folder, 'clone');
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    for (const file of files.toString().split('\0').filter(Boolean)) {
      mkdirSync(dirname(join(clone, file)), { recursive: true });
      cpSync(join(root, file), join(clone, file));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('installs without a warning, and the doctor finds all that the bench needs', async () => {
    const { code, stdout, stderr } = await run('npm', 'ci', '--no-audit', '--no-fund', '--prefer-offline');
    // Where the headers are is a setting of this test, and of machines that reach no others.
    const warnings = stderr
      .split('\n')
      .filter((line) => /warn|error/i.test(line) && !line.includes('config "nodedir"'));
    expect(warnings).toEqual([]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^added \d+ packages/m)]);
    const doctor = await run('node', 'dist/cli/main.js', 'doctor');
    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining(`Node ${major}.`)]);
  });

  it('passes the tests of rules and of binaries', async () => {
    const projects = ['parts', 'alone'].map((name) => `--project=${name}`);
    const { code, stdout, stderr } = await run('npx', '--no-install', 'vitest', 'run', ...projects, ...tests);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout).toMatch(/Tests +\d{3,} passed/);
  });

  it('benches ten users', async () => {
    const words = ['--users', '10', '--limit', '20', '--arms', 'rag,dki', '--json'];
    const { code, stdout, stderr } = await run('node', 'dist/cli/main.js', 'bench', ...words);
    expect(code, stderr).toBe(0);
    const { run: description, checks } = JSON.parse(stdout) as RunResults;
    expect(description.environment['node']).toMatch(new RegExp(`^v${major}\\.`));
    expect([description.status, description.dataset.users]).toEqual(['finished', 10]);
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
  });
});
