import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { KvFolder } from './kv-folder.ts';

const folder = temporaryFolder();

it.each([undefined, 'shared'])(
  "deletes a run's folder in which nothing but KV was written, with --kv-store %s",
  (kvStore) => {
    for (const report of [undefined, 'results.json']) {
      const run = folder.file(kvStore ?? 'run');
      {
        using _kv = new KvFolder({ kvBytes: 1, ...(kvStore === undefined ? {} : { kvStore: folder.file('kv') }) }, run);
        mkdirSync(kvStore === undefined ? join(run, 'kv', 'rag') : run, { recursive: true });
        if (report !== undefined) writeFileSync(join(run, report), '');
      }
      expect(existsSync(run)).toBe(report !== undefined);
      expect(existsSync(join(run, 'kv'))).toBe(false);
    }
  },
);
