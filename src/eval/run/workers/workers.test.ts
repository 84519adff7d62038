import { expect, it } from 'vitest';
import { storeRun } from '../../../../test/fixtures/stored-runs.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { loadBenchConfig } from '../../../bench/load-config.ts';
import { openDatabase } from '../../../store/database.ts';
import { type StartWorker, Workers } from './workers.ts';

const folder = temporaryFolder();
const nothing = (): void => undefined;

it('notes a worker that dies, and none that is stopped at the end of the run', async () => {
  using database = openDatabase({ path: ':memory:' });
  const run = storeRun(database, { name: 'r', turns: [] });
  const notesWith = async (startWorker: StartWorker): Promise<string[]> => {
    const notes: string[] = [];
    const hooks = { onNote: (note: string) => void notes.push(note) };
    const config = { ...loadBenchConfig({ environment: {} }), workers: 2 };
    const settings = { suite: 'main', folder: folder.path, config, hooks, startWorker } as const;
    {
      await using _workers = new Workers(database, { ...run, dataset: { ...run.dataset, users: 2 } }, settings);
      // A dead worker is seen before the end.
      await Promise.resolve();
    }
    return notes;
  };
  const dying: StartWorker = () => ({ begin: nothing, stop: nothing, kill: nothing, ended: Promise.resolve('killed') });
  const stopped: StartWorker = () => {
    const { promise: ended, resolve } = Promise.withResolvers<string | null>();
    return { begin: nothing, stop: () => resolve('SIGTERM'), kill: nothing, ended };
  };
  expect(await notesWith(dying)).toEqual(['worker 2 ended early (killed): other workers took its users']);
  expect(await notesWith(stopped)).toEqual([]);
});

it('fails the run if the users of a dead worker cannot be freed', async () => {
  const database = openDatabase({ path: ':memory:' });
  const run = storeRun(database, { name: 'r', turns: [] });
  const { promise: ended, resolve } = Promise.withResolvers<string | null>();
  const startWorker: StartWorker = () => ({ begin: nothing, stop: nothing, kill: () => resolve(null), ended });
  const config = { ...loadBenchConfig({ environment: {} }), workers: 2 };
  const settings = { suite: 'main', folder: folder.path, config, hooks: {}, startWorker } as const;
  await using workers = new Workers(database, { ...run, dataset: { ...run.dataset, users: 2 } }, settings);
  const changed = workers.changed(new AbortController().signal);
  database[Symbol.dispose]();
  resolve('killed');
  await expect(changed).rejects.toThrow('not open');
});
