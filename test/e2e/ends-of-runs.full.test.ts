import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { freePort } from '../../src/base/free-port.ts';
import { program, runProcess, startProcess } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const few = ['--arms', 'none,rag', '--limit', '8'];

it('prints its results and ends where a connection to the event server never asks anything', async () => {
  using folder = new TestFolder();
  const port = await freePort();
  const words = [...few, '--retriever', 'tiered', '--events-port', String(port), '--out', folder.path];
  let idle: ReturnType<typeof connect> | undefined;
  let connected = false;
  const { code, stdout } = await runProcess([...program, 'bench', ...words], {
    cwd: folder.path,
    onStderr: (stderr) => {
      if (idle !== undefined || !stderr.includes(': about ')) return;
      idle = connect(port, '127.0.0.1', () => (connected = true)).on('error', () => undefined);
    },
    killAfterMs: 300_000,
  });
  expect(connected).toBe(true);
  idle?.destroy();
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^[^]*rag[^]*\nreport: [^]*\ninspect a turn: [^\n]+\n$/)]);
});

it('of two processes one makes a run, and the other is told which does', async () => {
  using folder = new TestFolder();
  const words = ['--out', folder.path, '--arms', 'none,rag'];
  let second: ReturnType<typeof runProcess> | undefined;
  const { child, ended } = startProcess([...program, 'bench', ...words, '--run', 'one', '--limit', '200'], {
    cwd: folder.path,
    onStderr: (stderr) => {
      if (second !== undefined || !stderr.includes(': about ')) return;
      second = runProcess([...program, 'bench', '--out', folder.path, '--resume', 'one', '--quiet'], {
        cwd: folder.path,
      });
    },
  });
  const { pid } = child;
  const first = await ended;
  const { code, stderr } = await second!;
  expect([first.code, code]).toEqual([0, 2]);
  expect(stderr).toBe(`error: process ${pid} is making run "one"\n  hint: wait for its end, or end it\n`);
});
