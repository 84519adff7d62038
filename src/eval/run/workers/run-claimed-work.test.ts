import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fakeAdapter } from '../../../../test/fixtures/fake-engine/fake-adapter.ts';
import { folderOfEachTest } from '../../../../test/fixtures/folder-of-each-test.ts';
import { fakeConfig, smallDataset } from '../../../../test/fixtures/small-run.ts';
import { openDatabase } from '../../../store/database.ts';
import { MemoryRepository } from '../../../store/memory-repository.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { suitesNamed } from '../../suites/suites.ts';
import { openRunResources } from '../open-run-resources.ts';
import { newRunRecord } from '../plan/new-run-record.ts';
import { prepareSuite } from '../plan/prepare-suite.ts';
import { rowClaims } from './claims.ts';
import { runClaimedWork } from './run-claimed-work.ts';

const folder = folderOfEachTest();

it('stores the memories of every user, also of the one that a worker warmed up with', async () => {
  writeFileSync(folder.file('small.jsonl'), smallDataset());
  const settings = fakeConfig(folder, { dataset: folder.file('small.jsonl'), arms: 'rag', out: folder.path });
  const [suite] = suitesNamed(['main']);
  const place = { folder: folder.path, suffix: '' };
  const common = { folder: folder.path, place, engines: fakeAdapter.opener({}), settings, hasGeneratedData: false };
  await using prepared = await prepareSuite({ suite: suite!, begun: undefined, ...common }, {});
  using database = openDatabase({ path: ':memory:' });
  const run = new RunRepository(database).create(await newRunRecord(prepared, { name: 'r', listsUsers: false }));
  await using open = await openRunResources(prepared, database, run);
  const { signal } = new AbortController();
  const claims = rowClaims(database, run.id, open.claimed, { worker: 'w', signal });
  await runClaimedWork({ ...open.bench, claims }, () => Promise.resolve(undefined), { warmsUp: true });
  const memories = new MemoryRepository(database, run.id);
  expect(['ann', 'bob'].map((userId) => memories.getByUser(userId).length)).toEqual([3, 3]);
});
