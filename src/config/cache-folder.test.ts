import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { cacheFolder } from './cache-folder.ts';

it('the cache is the folder of the platform, or that of DKI_BENCH_CACHE', () => {
  expect(cacheFolder({}, 'linux')).toBe(join(homedir(), '.cache/dki-bench'));
  expect(cacheFolder({ XDG_CACHE_HOME: '/x' }, 'linux')).toBe('/x/dki-bench');
  expect(cacheFolder({ XDG_CACHE_HOME: '' }, 'linux')).toBe(join(homedir(), '.cache/dki-bench'));
  expect(cacheFolder({ XDG_CACHE_HOME: '/x' }, 'darwin')).toBe(join(homedir(), 'Library/Caches/dki-bench'));
  expect(cacheFolder({ LOCALAPPDATA: '/local' }, 'win32')).toBe(join('/local', 'dki-bench', 'Cache'));
  expect(cacheFolder({ DKI_BENCH_CACHE: 'mine', XDG_CACHE_HOME: '/x' }, 'linux')).toBe(resolve('mine'));
});
