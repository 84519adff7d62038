import { type Dirent, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folderOfEachTest } from '../fixtures/folder-of-each-test.ts';
import { program, type RunningProcess, startProcess } from '../fixtures/run-process.ts';

const temporary = folderOfEachTest();
const index = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
const QUESTION = 'Where do I live?\n';

/** A program that asks each line of standard input, and prints the answer and whether KV was reused. */
const library = `
import { createInterface } from 'node:readline';
import { openSystem } from ${JSON.stringify(index)};
const system = await openSystem();
await system.addMemory('s', 'I live in Port Dral.', { userId: 'ann', memoryId: 'm1' });
for await (const query of createInterface(process.stdin)) {
  const { text, trace } = await system.chat({ query, sessionId: 's', userId: 'ann' });
  process.stdout.write(text + ' ' + trace.account.cache + '\\n');
}
await system.dispose();
`;

const starters = {
  chat: {
    command: () => [...program, 'chat', '--user', 'ann', '--quiet', '--arm', 'dki'],
    input: `/remember I live in Port Dral.\n${QUESTION}`,
  },
  openSystem: {
    command: () => {
      writeFileSync(temporary.file('library.mjs'), library);
      return [process.execPath, temporary.file('library.mjs')];
    },
    input: QUESTION,
  },
};

type Starter = keyof typeof starters;

const foldersOf = ({ child }: RunningProcess): string[] =>
  readdirSync(temporary.path)
    .filter((name) => name.startsWith('dki-bench-kv-') && name.includes(`-${child.pid}-`))
    .map((name) => temporary.file(name));

const filesOf = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) =>
    entriesOf(folder)
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort(),
  );

/** Nothing for a folder that was deleted since it was listed, as one is once the model is loaded. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Starts a process, asks one question, and waits for the KV that it stores after the answer. */
async function answered(name: Starter): Promise<RunningProcess> {
  const { command, input } = starters[name];
  const running = startProcess(command(), { cwd: temporary.path, environment: { TMPDIR: temporary.path } });
  running.child.stdin.write(input);
  while (running.child.exitCode === null && filesOf(foldersOf(running)).every((file) => !file.endsWith('.checkpoint')))
    await wait(50);
  expect(running.child.exitCode).toBeNull();
  return running;
}

it.each([
  ['chat', 'openSystem'],
  ['openSystem', 'chat'],
] as const)('the KV of a killed %s is deleted by the next %s, and none of a running process', async (left, next) => {
  const [killed, living] = [await answered(left), await answered('openSystem')];
  killed.child.kill('SIGKILL');
  expect(await killed.ended).toMatchObject({ code: null });
  const [abandoned, held] = [foldersOf(killed), filesOf(foldersOf(living))];
  expect(filesOf(abandoned)).not.toEqual([]);

  const after = await answered(next);
  expect(abandoned.filter((folder) => existsSync(folder))).toEqual([]);
  expect(filesOf(foldersOf(living))).toEqual(held);
  after.child.stdin.end();
  expect(await after.ended).toMatchObject({ code: 0, stderr: '' });
  living.child.stdin.end(QUESTION);
  expect(await living.ended).toEqual({ code: 0, stderr: '', stdout: 'Port Dral. miss\nPort Dral. hit\n' });
  expect(readdirSync(temporary.path).filter((name) => name.startsWith('dki-bench-kv-'))).toEqual([]);
});
