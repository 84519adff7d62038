import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunResults } from '../../src/records/results.ts';
import { ChatServer, honestJudge, judgedData } from '../fixtures/chat-server.ts';
import { freePort } from '../fixtures/free-port.ts';
import { ProgramHost } from '../fixtures/program-host.ts';

const KEY = 'a-key-that-nobody-may-see';
const few = ['--limit', '8', '--arms', 'none,rag'];

let folder: string;
let host: ProgramHost;
let server: ChatServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dki-judge-'));
  host = new ProgramHost(folder, { DKI_BENCH_JUDGE_KEY: KEY });
  server = await ChatServer.start();
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const bench = (...words: readonly string[]) => host.run('bench', '--judge-model', 'grader', ...words);

/** All files below the folder, as they are. */
const written = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
    .join('\n');

it('judges the answers of a run, and asks nothing twice', async () => {
  // Slow once in a while, and now and then neither yes nor no.
  server.answers = (content) => {
    const odd = judgedData(content).question.includes('16:30') || server.requests.length === 12;
    return odd && server.requests.length > 8 ? { reply: 'hard to say', afterMs: 300 } : honestJudge(content);
  };
  const first = await bench('--judge', server.address, ...few, '--run', 'first', '--json');
  expect(first.stderr).toContain('asking the judge');
  const { arms, judge, run, checks } = JSON.parse(first.stdout) as RunResults;
  expect(run.metrics).toEqual([
    { name: 'judge', label: 'judge', kind: 'binary', unit: '%', direction: 'higher', margin: 2 },
  ]);
  expect(checks.find(({ check }) => check === 'metrics')?.evidence).toContain(
    'judge grader accepts 4 of 4 planted right answers and 0 of 4 wrong ones',
  );
  expect(run.profile.spent!.judge).toBeGreaterThan(300);
  expect(judge!.failed).toEqual([
    expect.objectContaining({ reason: 'neither yes nor no', first: 'judge grader: the reply is neither yes nor no' }),
  ]);
  const answerable = arms[0]!.metrics.contains!.n;
  for (const { judged, unjudged } of judge!.arms) expect(judged + unjudged).toBe(answerable);
  expect(judge!.arms.reduce((sum, { unjudged }) => sum + unjudged, 0)).toBe(judge!.failed[0]!.answers);
  expect(arms.find(({ arm }) => arm === 'rag')!.metrics['judge']!.n).toBe(judge!.arms[1]!.judged);
  expect(judge!.agreement!.n).toBe(judge!.arms[0]!.judged + judge!.arms[1]!.judged);
  expect(new Set(server.requests.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));

  const before = server.requests.length;
  server.answers = honestJudge;
  const second = await bench('--judge', server.address, ...few, '--run', 'second');
  // The one that had no verdict.
  expect(server.requests.length - before).toBe(1);
  expect(second.code).toBe(0);
  const printed = second.stdout.replaceAll(/\s+/g, ' ');
  expect(printed).toMatch(/judge grader agrees with contains on [\d.]+ % of \d+ answers, Cohen's kappa/);
  expect(printed).toMatch(/, judge 0\.\d s/);
  expect(readFileSync(join(folder, 'reports/second/report.html'), 'utf8')).toContain('You grade one answer.');
  for (const text of [first.stdout, first.stderr, second.stdout, second.stderr, written()])
    expect(text).not.toContain(KEY);
});

it('ends before the first turn where there is no judge to ask', async () => {
  const port = await freePort();
  const elsewhere = [...few, '--quiet', '--db', 'none.sqlite'];
  const dead = await bench('--judge', `http://127.0.0.1:${port}`, ...elsewhere);
  expect([dead.code, dead.stdout]).toEqual([2, '']);
  expect(dead.stderr).toBe(
    `error: judge http://127.0.0.1:${port}/v1/chat/completions: cannot be reached (ECONNREFUSED)\n  hint: start the server, or correct --judge\n`,
  );
  server.answers = () => ({ status: 401, body: `{"error":{"message":"wrong key ${KEY}"}}` });
  const refused = await bench('--judge', server.address, ...elsewhere);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toBe(
    `error: judge ${server.address}/v1/chat/completions: refuses access (401)\n  hint: correct DKI_BENCH_JUDGE_KEY\n`,
  );
  const tables = await host.run('tables', '--db', 'none.sqlite');
  expect(tables.stderr).toContain('holds no run');
});
