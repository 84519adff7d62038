import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunResults } from '../../src/records/results.ts';
import { ChatServer, honestJudge } from '../fixtures/chat-server.ts';
import { type ProcessOptions, program, runProcess } from '../fixtures/run-process.ts';

const few = ['--limit', '8', '--arms', 'none,rag'];

it('is stopped while a judge is silent, and goes on without asking a turn again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dki-judge-'));
  await using server = await ChatServer.start();
  const bench = (words: readonly string[], options: ProcessOptions = {}) =>
    runProcess([...program, 'bench', '--judge-model', 'grader', ...words], { cwd: folder, ...options });
  server.answers = (content) => (server.requests.length <= 10 ? honestJudge(content) : { hangs: true });
  let stoppedAt = 0;
  const stopped = await bench(['--judge', server.address, ...few, '--run', 'stopped'], {
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
  const resumed = await bench(['--resume', 'stopped', '--judge', server.address, '--json']);
  expect(resumed.stderr).not.toContain('% of 16 turns');
  const { judge } = JSON.parse(resumed.stdout) as RunResults;
  expect([judge!.known, judge!.asked]).toEqual([2, server.requests.length - asked]);
  expect(judge!.failed).toEqual([]);
  rmSync(folder, { recursive: true });
});
