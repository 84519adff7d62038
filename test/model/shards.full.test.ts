import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import { runSuites } from '../../src/eval/run-suites.ts';
import { mergeShards, type ShardFile } from '../../src/eval/run/merge-run-parts.ts';
import type { RunRecord } from '../../src/store/records/run-record.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { changed } from '../fixtures/draft.ts';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { fakeConfig, smallDataset } from '../fixtures/small-run.ts';
import { turnsWritten, untimedResults } from '../fixtures/untimed.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const selectEngine = () => fakeAdapter.opener({});
const NAME = 'r';

const folder = temporaryFolder();
let whole: RunResults;
beforeAll(async () => {
  writeFileSync(folder.file('small.jsonl'), smallDataset(['ann', 'bob', 'eve', 'dan', 'kim']));
  whole = await bench('whole');
  await bench('one', { shard: '1/2' });
  await bench('two', { shard: '2/2' });
});

/** Makes a run in a folder of its own. */
async function bench(place: string, flags: Readonly<Record<string, string>> = {}): Promise<RunResults> {
  const given = { dataset: folder.file('small.jsonl'), arms: 'none,rag,dki', out: folder.file(place), run: NAME };
  const [results] = await runSuites(fakeConfig(folder, { ...given, ...flags }), selectEngine);
  return results!;
}

function shardAt(place: string): ShardFile {
  const database = openDatabase({ path: folder.file(`${place}/dki-bench.sqlite`) });
  return { file: place, database, run: new RunRepository(database).findByName(NAME)! };
}

const turnsIn = (database: BenchDatabase) => turnsWritten(database, NAME);

function merged(...places: [string, ...string[]]): { readonly results: RunResults; readonly turns: unknown[] } {
  using target = openDatabase({ path: ':memory:' });
  const [first, ...others] = places;
  const results = mergeShards(target, [shardAt(first), ...others.map(shardAt)]);
  return { results, turns: turnsIn(target) };
}

describe('shards', () => {
  it('have disjoint users, and say that they are a part', () => {
    const users = ['one', 'two'].map((place) => {
      const { database, run } = shardAt(place);
      return [...new Set([...new TurnRepository(database).listByRun(run.id)].map(({ userId }) => userId))];
    });
    expect(users).toEqual([
      ['ann', 'eve', 'kim'],
      ['bob', 'dan'],
    ]);
  });

  it('are put together to the rows and the results of one process, in whatever order they are named', () => {
    using database = openDatabase({ path: folder.file('whole/dki-bench.sqlite') });
    const expected = turnsIn(database);
    expect(expected).toHaveLength(45);
    for (const { results, turns } of [merged('one', 'two'), merged('two', 'one')]) {
      expect(turns).toEqual(expected);
      expect(untimedResults(results)).toEqual(untimedResults(whole));
      expect(results.run.settings).toEqual(whole.run.settings);
      expect(results.run.notes).toContain('merged from 2 shards');
    }
  });

  it('are refused where one is missing, or no shard, and nothing is written', () => {
    using target = openDatabase({ path: ':memory:' });
    expect(() => mergeShards(target, [shardAt('one')])).toThrow(/^missing: bob \(all 9 turns\), dan \(all 9 turns\)$/);
    expect(() => mergeShards(target, [shardAt('whole')])).toThrow('whole: run "r" is no shard');
    expect(new RunRepository(target).names()).toEqual([]);
  });

  it('change nothing if they are named twice or merged again, in part or whole', () => {
    using target = openDatabase({ path: ':memory:' });
    const [one, two] = [shardAt('one'), shardAt('two')];
    const results = mergeShards(target, [one, two, shardAt('one')]);
    expect(results.run.notes).toContain('merged from 2 shards');
    const [turns, runs] = [turnsIn(target), new RunRepository(target).list()];
    expect(turns).toHaveLength(45);
    for (const again of [[one, two], [two, one, two], [two]] as [ShardFile, ...ShardFile[]][]) {
      expect(mergeShards(target, again)).toEqual(results);
      expect([turnsIn(target), new RunRepository(target).list()]).toEqual([turns, runs]);
    }
  });

  it('are not merged into a run of the same name that other shards made', async () => {
    using target = openDatabase({ path: ':memory:' });
    mergeShards(target, [shardAt('one'), shardAt('two')]);
    await bench('third', { shard: '1/2' });
    expect(() => mergeShards(target, [shardAt('third'), shardAt('two')])).toThrow("has a run 'r' already");
    const both = () => mergeShards(target, [shardAt('one'), shardAt('third'), shardAt('two')]);
    expect(both).toThrow('one and third both hold user ann');
  });

  it.each<[string, Parameters<typeof changed<RunRecord>>[1]]>([
    ['setting seed', ({ plan }) => (plan.settings['seed'] = '8')],
    ['model', ({ model }) => (model.sha256 = 'another')],
    ['version (benchVersion)', ({ environment }) => (environment['benchVersion'] = '9')],
  ])('are refused where they have another %s', (named, change) => {
    const [one, two] = [shardAt('one'), shardAt('two')];
    using target = openDatabase({ path: ':memory:' });
    const merging = () => mergeShards(target, [one, { ...two, run: changed(two.run, change) }]);
    expect(merging).toThrow(`one and two differ in: ${named}`);
  });

  it('name the user whose turns are not all there', () => {
    const two = shardAt('two');
    using target = openDatabase({ path: ':memory:' });
    // As a shard that was ended in its last user.
    new TurnRepository(two.database).deleteUser(two.run.id, 'dan');
    expect(two.run.plan.users!.map(({ userId }) => userId)).toEqual(['ann', 'bob', 'eve', 'dan', 'kim']);
    expect(() => mergeShards(target, [shardAt('one'), two])).toThrow('missing: dan (all 9 turns)');
  });
});
