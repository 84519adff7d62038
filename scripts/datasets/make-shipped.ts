/**
 * Makes the data sets that ship, byte for byte, from their grammars: `npx tsx scripts/datasets/make-shipped.ts`. With `--seed`,
 * `--users` and `--out FOLDER` it makes others of the same form; names choose some of them.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeRecallDataset } from '../../src/data/generators/recall-data.ts';
import { fileSource } from '../../src/data/dataset-source.ts';
import { verifyDataset } from '../../src/data/verify/verify-dataset.ts';
import { writeText } from '../../src/data/write-lines.ts';
import { factsName, makeFactsDataset } from './facts/facts-dataset.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '7' },
    users: { type: 'string' },
    out: { type: 'string', default: join(import.meta.dirname, '../../datasets') },
  },
});

/** Each data set: its number of users, and its text by seed and users. */
const shipped: Record<string, { users: number; make: (seed: number, users: number) => string }> = {};
for (const language of ['en', 'zh'] as const) {
  shipped[`recall-${language}`] = { users: 20, make: (seed, users) => makeRecallDataset(language, seed, users).text };
  for (const edition of [1, 2] as const) {
    for (const [split, users] of [
      ['test', edition === 1 ? 40 : 60],
      ['development', 20],
    ] as const) {
      const source = { language, split, edition };
      shipped[factsName(source)] = { users, make: (seed, count) => makeFactsDataset(source, seed, count) };
    }
  }
}

const unknown = positionals.find((name) => !Object.hasOwn(shipped, name));
if (unknown !== undefined) throw new Error(`${unknown} is none of ${Object.keys(shipped).join(', ')}`);
for (const [name, { users, make }] of Object.entries(shipped)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const file = join(values.out, `${name}.jsonl`);
  await writeText(file, make(Number(values.seed), values.users === undefined ? users : Number(values.users)));
  await verifyDataset(fileSource(file));
  console.log(file);
}
