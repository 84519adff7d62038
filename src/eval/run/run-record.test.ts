import { expect, test } from 'vitest';
import { storeRun } from '../../../test/fixtures/stored-runs.ts';
import { smallConfig, TestFolder } from '../../../test/model/bench-fixture.ts';
import { openDatabase } from '../../db/database.ts';
import { resumedConfig } from './run-record.ts';

test('a run goes on with the data sets that it began with, one or several', () => {
  using folder = new TestFolder();
  using database = openDatabase({ path: folder.file('runs.sqlite') });
  const config = smallConfig(folder, { seed: '8', threads: '1' });
  const resumed = (name: string, dataset: unknown) =>
    resumedConfig(config, storeRun(database, { name, turns: [], settings: { dataset, seed: 3 } }));
  expect(resumed('one', ['/data/a.jsonl'])).toMatchObject({ dataset: ['/data/a.jsonl'], seed: 3, threads: 1 });
  expect(resumed('both', ['/data/a.jsonl', '/data/b.jsonl']).dataset).toEqual(['/data/a.jsonl', '/data/b.jsonl']);
});
