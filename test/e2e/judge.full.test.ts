import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { ChatServer, honestJudge, judgedData } from '../fixtures/chat-server.ts';
import { ProgramHost } from '../fixtures/program-host.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const KEY = 'a-key-that-nobody-may-see';
const few = ['--users', '10', '--limit', '8', '--arms', 'none,rag'];

it('is stopped while a judge is silent, and goes on without asking a turn again', async () => {
  using folder = new TestFolder();
  await using server = await ChatServer.start();
  const words = [...program, 'bench', '--judge-model', 'grader', '--judge', server.address];
  server.answers = (content) => (server.requests.length <= 10 ? honestJudge(content) : { hangs: true });
  let stoppedAt = 0;
  const stopped = await runProcess([...words, ...few, '--run', 'stopped'], {
    cwd: folder.path,
    onStderr: (text, child) => {
      if (stoppedAt > 0 || !text.includes('asking the judge')) return;
      stoppedAt = performance.now();
      setTimeout(() => child.kill('SIGINT'), 500);
    },
  });
  const endedAfterMs = performance.now() - stoppedAt - 500;
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toContain('--resume stopped');
  expect(endedAfterMs).toBeLessThan(2000);
  server.answers = honestJudge;
  const asked = server.requests.length;
  const resumed = await runProcess([...words, '--resume', 'stopped', '--json'], { cwd: folder.path });
  expect(resumed.stderr).not.toContain('% of 20 turns');
  const { judge } = JSON.parse(resumed.stdout) as RunResults;
  expect(judge).toMatchObject({ known: 2, asked: server.requests.length - asked, failed: [] });
});

/** All files below a folder, as they are. */
const written = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
    .join('\n');

it('judges the answers of a run, and asks nothing twice', async () => {
  using folder = new TestFolder();
  await using host = new ProgramHost(folder.path, { DKI_BENCH_JUDGE_KEY: KEY });
  await using server = await ChatServer.start();
  const bench = (...words: readonly string[]) => host.run('bench', '--judge-model', 'grader', ...words);
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
  const second = await bench('--judge', server.address, ...few, '--run', 'second', '--verbose');
  // The one that had no verdict.
  expect(server.requests.length - before).toBe(1);
  expect(second.code).toBe(0);
  const printed = second.stdout.replaceAll(/\s+/g, ' ');
  expect(printed).toMatch(/judge grader agrees with contains on [\d.]+ % of \d+ answers, Cohen's kappa/);
  expect(printed).toMatch(/, judge [\d.]+ s/);
  expect(readFileSync(folder.file('reports/second/report.html'), 'utf8')).toContain('You grade one answer.');
  for (const text of [first.stdout, first.stderr, second.stdout, second.stderr, written(folder.path)])
    expect(text).not.toContain(KEY);
});
