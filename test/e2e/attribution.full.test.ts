import { beforeAll, expect, it } from 'vitest';
import { expectMistake } from '../fixtures/program-host.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
const dkiBench = (...words: string[]) => runProcess([...program, ...words], { cwd: folder.path });

beforeAll(() =>
  dkiBench('bench', '--users', '10', '--limit', '8', '--arms', 'none,rag,dki-blocks', '--run', 'small', '--quiet'),
);

it('computes leave-one-out attribution, shows it, and keeps it for the next time', async () => {
  const turn = ['--run', 'small', '--arm', 'rag,dki-blocks'];
  const before = await dkiBench('inspect', ...turn, '--print');
  expect(before.stdout).not.toContain('Leave-one-out attribution');
  const { code, stdout, stderr } = await dkiBench('inspect', ...turn, '--attribution');
  expect(code).toBe(0);
  expect(stdout).toContain('Leave-one-out attribution, by line of the text\nln p of the answer');
  expect(stdout).toContain('Leave-one-out attribution, by KV block\nln p of the answer');
  expect(stdout).toMatch(/\nmemory +ln p without it +difference\n/);
  expect(stderr).toMatch(/^loading the model\n(leave-one-out attribution of rag: (\d) of \d evaluations\n)+/);
  expect(stderr).toMatch(/dki-blocks: (\d) of \1 evaluations\n$/);
  expect((await dkiBench('inspect', ...turn, '--print')).stdout).toBe(stdout);
  const json = await dkiBench('inspect', ...turn, '--attribution', '--json', '--quiet');
  expect(json.stderr).toBe('');
  expect(json.stdout).toContain('"method": "blocks"');
});

it('a turn without memories ends with 2 and two lines', async () => {
  expectMistake(
    await dkiBench('inspect', '--attribution', '--quiet', '--arm', 'none'),
    /^error: [^\n]*holds no memory/,
  );
});
