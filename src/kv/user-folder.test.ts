import type * as FileSystem from 'node:fs';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';

/** Runs once, between two steps of a process: as it lists the folder. */
let meanwhile: (() => void) | undefined;
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof FileSystem>();
  const list = (path: string): string[] => {
    const act = meanwhile;
    meanwhile = undefined;
    act?.();
    return fs.readdirSync(path);
  };
  return { ...fs, readdirSync: list };
});
const { UserFolder } = await import('./user-folder.ts');

it.each(['block', 'checkpoint'])('a %s that is written while another process removes it is whole, or gone', (kind) => {
  const path = join(mkdtempSync(join(tmpdir(), 'dki-bench-user-folder-')), 'ann');
  const [one, other] = [new UserFolder(path), new UserFolder(path)];
  const key = '1'.padStart(64, '0');
  const about = { tokens: 3, memoryIds: ['m1'] };
  const begin = (folder: typeof one): (() => void) => {
    if (kind === 'block') return () => folder.writeBlock(key, about, Buffer.from('state'));
    const unfinished = folder.beginCheckpoint(key);
    const made = { id: unfinished.id, tokens: [1, 2, 3], bytes: 5, sha256: '0'.repeat(64), stateIdentity: 's' };
    return () => folder.finishCheckpoint(unfinished, key, about, made);
  };
  begin(one)();
  meanwhile = begin(other);
  const orphans = one.remove(key).map(({ mark }) => mark);
  const left = readdirSync(path).filter((file) => !orphans.includes(join(path, file)));
  expect(left.map((file) => file.split('.').at(-1)).sort()).toEqual(left.length === 0 ? [] : [kind, 'json']);
  rmSync(join(path, '..'), { recursive: true });
});
