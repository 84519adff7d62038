import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const NAME = 'dki-bench';

export const cacheVariable = 'DKI_BENCH_CACHE';

/**
 * The folder for fetched and imported files: `DKI_BENCH_CACHE`, else the platform's cache folder of this user
 * (`XDG_CACHE_HOME` or `~/.cache` on Linux, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows).
 */
export function cacheFolder(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const value = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const named = value(cacheVariable);
  if (named !== undefined) return resolve(named);
  if (platform === 'win32') {
    return join(value('LOCALAPPDATA') ?? join(homedir(), 'AppData', 'Local'), NAME, 'Cache');
  }
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches', NAME);
  return join(value('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), NAME);
}
