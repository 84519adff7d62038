import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { RunLock } from './run-lock.ts';

const folder = temporaryFolder();
afterEach(() => vi.restoreAllMocks());

it('a lock of a running process, of any user, holds and stays unchanged', () => {
  for (const code of ['EPERM', undefined]) {
    writeFileSync(folder.file('lock'), String(process.ppid));
    vi.spyOn(process, 'kill').mockImplementation(() => {
      if (code !== undefined) throw Object.assign(new Error(code), { code });
      return true;
    });
    expect(() => new RunLock(folder.path, 'r')).toThrow(`process ${process.ppid} is making run "r"`);
    expect(readFileSync(folder.file('lock'), 'utf8')).toBe(String(process.ppid));
    vi.restoreAllMocks();
  }
});

it('a stale lock is taken over, and deleted with the run', () => {
  for (const left of [String(spawnSync('true').pid), 'no number', '']) {
    writeFileSync(folder.file('lock'), left);
    {
      using _lock = new RunLock(folder.path, 'r');
      expect(readFileSync(folder.file('lock'), 'utf8')).toBe(String(process.pid));
    }
    expect(existsSync(folder.file('lock'))).toBe(false);
  }
});

it('does not delete a lock that another process has created meanwhile', () => {
  {
    using _lock = new RunLock(folder.path, 'r');
    writeFileSync(folder.file('lock'), String(process.ppid));
  }
  expect(readFileSync(folder.file('lock'), 'utf8')).toBe(String(process.ppid));
});

it('takes over a stale lock that another process removes at the same time', () => {
  writeFileSync(folder.file('lock'), String(process.ppid));
  vi.spyOn(process, 'kill').mockImplementation(() => {
    rmSync(folder.file('lock'));
    throw Object.assign(new Error('ESRCH'), { code: 'ESRCH' });
  });
  using _lock = new RunLock(folder.path, 'r');
  expect(readFileSync(folder.file('lock'), 'utf8')).toBe(String(process.pid));
});
