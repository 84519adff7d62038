import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type RunningProcess, startProcess, typescript } from '../../test/fixtures/run-process.ts';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const temporary = folderOfEachTest();
beforeEach(() => void vi.stubEnv('TMPDIR', temporary.path));
afterEach(() => void vi.unstubAllEnvs());

const modulePath = fileURLToPath(new URL('./temporary-folder.ts', import.meta.url));

const folders = (): string[] =>
  readdirSync(temporary.path)
    .filter((name) => name.startsWith('dki-bench-kv-'))
    .map((name) => temporary.file(name))
    .toSorted();

/** Starts a process that makes a folder with a file, prints its path, and then runs `then`. */
async function otherProcess(then: string): Promise<RunningProcess & { readonly path: string }> {
  const script =
    `import { writeFileSync } from 'node:fs'; import { TemporaryFolder } from ${JSON.stringify(modulePath)};` +
    `const { path } = new TemporaryFolder(); writeFileSync(path + '/state', 'KV'); process.stdout.write(path); ${then}`;
  const running = startProcess([...typescript, '--input-type=module', '-e', script]);
  const [path] = (await once(running.child.stdout, 'data')) as [string];
  return { ...running, path };
}

test('a folder is private to its user, and deleted at disposal', () => {
  const folder = new TemporaryFolder();
  expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  writeFileSync(join(folder.path, 'state'), 'KV');
  folder[Symbol.dispose]();
  expect(folders()).toEqual([]);
});

test('a process deletes its folders when it exits', async () => {
  const child = await otherProcess(`process.stdin.on('end', () => process.exit(3)).resume();`);
  expect(existsSync(join(child.path, 'state'))).toBe(true);
  child.child.stdin.end();
  expect(await child.ended).toMatchObject({ code: 3 });
  expect(folders()).toEqual([]);
});

test('a new folder deletes folders of killed processes, and none of a running process', async () => {
  const [killed, living] = await Promise.all([
    otherProcess('setInterval(() => 0, 1e6);'),
    otherProcess('process.stdin.resume();'),
  ]);
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(existsSync(killed.path)).toBe(true);
  using folder = new TemporaryFolder();
  expect(folders()).toEqual([living.path, folder.path].toSorted());
  living.child.stdin.end();
  await living.ended;
});

test('reports that no folder can be created', () => {
  vi.stubEnv('TMPDIR', temporary.file('none'));
  expect(() => new TemporaryFolder()).toThrow(expect.objectContaining({ code: 'disk' }));
});
