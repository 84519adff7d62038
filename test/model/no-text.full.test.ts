import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import { WithheldTexts } from '../../src/cli/reveal-withheld-texts.ts';
import { privateTextHash } from '../../src/base/private-text-hash.ts';
import { openDatabase } from '../../src/store/database.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import { findRuns } from '../../src/eval/analysis/results-from-stored-turns.ts';
import { storedSequence } from '../../src/eval/run/attribution/turn-replay.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { writeReport } from '../../src/report/report-files.ts';
import { item, memory, writeLines } from '../fixtures/dataset-lines.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { smallConfig } from './bench-fixture.ts';

/** Three users; every text that is private holds one of the words below. */
const lines = Object.entries({ ann: 'Zanzibar', bob: 'Quetzal', eve: 'Yukonia' }).flatMap(([userId, city]) => {
  const content = `I have moved to ${city}, xylophone in hand.`;
  const asked = { userId, answer: city, relation: 'city', evidence: [`${userId}-1`] };
  const history = [{ role: 'user', content: 'My xylophone is dear to me.' }];
  return [
    memory(`${userId}-1`, { userId, relation: 'city', content, value: city }),
    item(`${userId}-q1`, { ...asked, query: 'Xylophone: where do I live?' }),
    item(`${userId}-q2`, { ...asked, query: 'And where is my xylophone?', history }),
  ];
});
/** Checks that need the texts, and why they decide nothing. */
const undecided = {
  'negative controls': 'answers are stored as hashes (--no-text): chance cannot be computed',
  scores: 'the answers are stored as hashes, which cannot be scored again',
};
const secret = /zanzibar|quetzal|yukonia|xylophone/i;

const folder = temporaryFolder();
const file = writeLines(folder, lines);
const flags = { dataset: file, arms: 'none,rag,dki', out: folder.file('reports'), db: folder.file('hashes.sqlite') };

const ended = new AbortController();
const interrupted = runBench(smallConfig(folder, { ...flags, text: false, run: 'private' }), {
  signal: ended.signal,
  // In the middle of the second user.
  onProgress: ({ phase, done }) => phase === 'turns' && done === 8 && ended.abort(new Error('enough')),
});
await expect(interrupted).rejects.toThrow('enough');
// The option is the run's: nobody has to give it again.
const resumed = smallConfig(folder, { out: flags.out, db: flags.db, resume: 'private' });
const [results] = (await runBench(resumed)) as [RunResults];
await writeReport(folder.file('reports/private'), [results]);
const shown = { ...flags, run: 'open', db: folder.file('texts.sqlite'), out: folder.file('others') };
const [open] = (await runBench(smallConfig(folder, shown))) as [RunResults];

/** Files below a folder, or a file and its companions. */
function bytesOf(path: string): string[] {
  const names = readdirSync(path, { recursive: true }) as string[];
  return names.map((name) => join(path, name)).filter((name) => statSync(name).isFile());
}

describe('a run without texts', () => {
  it('leaves no byte of them in the database and in the report, resumed or not', () => {
    const files = [...bytesOf(folder.path).filter((name) => name.includes('hashes.sqlite')), ...bytesOf(flags.out)];
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((name) => secret.test(readFileSync(name, 'latin1')))).toEqual([]);
    // The same words are found where texts are stored.
    expect(secret.test(readFileSync(folder.file('texts.sqlite'), 'latin1'))).toBe(true);
  });

  it('has hashes in their place, and the results of the run that has texts', () => {
    using database = openDatabase({ path: flags.db, readOnly: true });
    const [run] = findRuns(database, 'private');
    const turns = [...new TurnRepository(database).listByRun(run!.id)];
    expect(turns).toHaveLength(18);
    const [first] = turns;
    expect(first).toMatchObject({
      item: { query: privateTextHash('Xylophone: where do I live?'), gold: privateTextHash('Zanzibar') },
    });
    expect(run!.plan.settings).toMatchObject({ text: false });
    const quality = ({ arms }: RunResults) =>
      arms.map(({ arm, n, metrics }) => [arm, n, metrics.contains, metrics.tokenF1, metrics.goldLogProb]);
    expect(quality(results)).toEqual(quality(open));
    const decided = ({ checks }: RunResults) =>
      checks.flatMap(({ check, status }) => (check in undecided ? [] : [[check, status]]));
    expect(decided(results)).toEqual(decided(open));
  });

  it('says what it cannot do', () => {
    for (const [check, evidence] of Object.entries(undecided))
      expect(results.checks).toContainEqual({ check, status: 'undecided', evidence });
    expect(results.run.notes.join('\n')).toContain('no text was stored (--no-text): the viewer shows hashes');
    using database = openDatabase({ path: flags.db, readOnly: true });
    const [run] = findRuns(database, 'private');
    expect(new WithheldTexts(file).hidden(run!)).toBe('the run stored only hashes of them (--no-text)');
    const [turn] = new TurnRepository(database).find(run!.id, 'ann-q1', 'rag');
    expect(() => storedSequence(turn!)).toThrow(
      'the turn of item ann-q1, arm rag cannot be computed again: its prompt was not stored (--no-text)',
    );
  });
});
