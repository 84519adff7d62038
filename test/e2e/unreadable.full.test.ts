import { chmodSync, copyFileSync, lchownSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presetModels } from '../../src/models/default-models.ts';
import { expectMistake } from '../fixtures/program-host.ts';
import { type Ended, program, runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

/** Rights mean nothing to root, who lets another user run the bench. */
const stranger = process.getuid?.() === 0 ? 65534 : undefined;
const few = ['--users', '10', '--limit', '8', '--arms', 'rag,dki', '--quiet'];

const folder = temporaryFolder();
let unstartable: string | undefined;

const call = (words: readonly string[]): Promise<Ended> =>
  runProcess([...program, ...words], { cwd: folder.path, ...(stranger === undefined ? {} : { uid: stranger }) });
const bench = (...words: string[]): Promise<Ended> => call(['bench', ...few, ...words]);

/** Makes the folder and all in it belong to the user who runs the bench. */
function giveAway(path: string): void {
  if (stranger === undefined) return;
  for (const name of ['', ...readdirSync(path, { recursive: true, encoding: 'utf8' })]) {
    lchownSync(join(path, name), stranger, stranger);
  }
}

beforeAll(async () => {
  symlinkSync('nowhere', folder.file('dangling'));
  copyFileSync(presetModels.model, folder.file('closed.gguf'));
  mkdirSync(folder.file('closed'));
  giveAway(folder.path);
  for (const name of ['closed', 'closed.gguf']) chmodSync(folder.file(name), 0);
  const { code, stderr } = await call(['--version']);
  if (code !== 0) unstartable = `user ${stranger} cannot read the program: ${stderr.slice(0, 200)}`;
});
afterAll(() => {
  chmodSync(folder.file('closed'), 0o700);
});

describe('what cannot be read or written', () => {
  it.for([
    ['a closed KV store', ['--kv-store', 'closed'], /closed\/checkpoints: cannot keep KV states there: EACCES\n/],
    ['a report folder that leads nowhere', ['--out', 'dangling'], /dangling\/dki-bench\.sqlite cannot be opened: /],
    ['a closed report folder', ['--out', 'closed'], /closed\/dki-bench\.sqlite: unable to open database file\n/],
    ['a closed folder of a data set', ['--dataset', 'closed/set.jsonl'], /set\.jsonl: cannot be read: EACCES/],
    ['a closed model', ['--model', 'closed.gguf'], /closed\.gguf cannot be read: EACCES\n/],
  ] as const)('%s is named, with what to do', async ([, words, message], { skip }) => {
    skip(unstartable !== undefined, unstartable);
    expectMistake(await bench(...words), message);
  });

  it('of a store that was filled before ends the run, and nothing is deleted', async ({ skip }) => {
    skip(unstartable !== undefined, unstartable);
    const files = (): string[] => readdirSync(folder.file('shared'), { recursive: true, encoding: 'utf8' }).sort();
    expect((await bench('--kv-store', 'shared')).code).toBe(0);
    const before = files();
    const states = before.filter((name) => name.endsWith('.state'));
    expect(states.length).toBeGreaterThan(0);
    states.forEach((name) => chmodSync(folder.file(join('shared', name)), 0));
    const message = /^error: \S+shared\/checkpoints\/\S+: a KV state cannot be read: EACCES\n/;
    expectMistake(await bench('--kv-store', 'shared'), message);
    expect(files()).toEqual(expect.arrayContaining(before));
  });

  it('of earlier results are shown from a folder that may only be read, and nothing is written', async ({ skip }) => {
    skip(unstartable !== undefined, unstartable);
    expect((await bench('--out', 'shown', '--run', 'one')).code).toBe(0);
    chmodSync(folder.file('shown'), 0o500);
    try {
      const before = readdirSync(folder.file('shown'));
      for (const words of [['tables'], ['inspect', '--print'], ['tables', '--check']]) {
        expect(await call([...words, '--out', 'shown'])).toMatchObject({ code: 0, stderr: '' });
      }
      expect(readdirSync(folder.file('shown'))).toEqual(before);
    } finally {
      chmodSync(folder.file('shown'), 0o700);
    }
  });
});
