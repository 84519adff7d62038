/** Writes the data set of the bench, the same bytes for the same seed: `npm run data:make -- --seed 7`. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { readDataset } from '../src/eval/dataset/reader.ts';
import { makeRecallDataset } from '../src/eval/synthesis/recall-dataset.ts';
import { runScript, wholeNumber } from './run-script.ts';

function counted(labels: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, count]) => `${count} ${label}`)
    .join(', ');
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '7' },
      users: { type: 'string', default: '40' },
      out: { type: 'string', default: 'datasets/recall-en.jsonl' },
    },
  });
  const made = makeRecallDataset(wholeNumber('seed', values.seed, 0), wholeNumber('users', values.users, 1));
  const temporary = `${values.out}.tmp`;
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(temporary, made.text);
  const { users, sha256 } = await readDataset(temporary);
  renameSync(temporary, values.out);

  const items = users.flatMap((user) => user.items);
  const memories = users.flatMap((user) => user.memories);
  console.log(
    `${values.out}: ${users.length} users (${counted(users.map((user) => user.kind ?? 'of no kind'))}), ` +
      `${memories.length} memories, ${items.length} items (${counted(items.map((item) => item.category))}; ` +
      `${counted(items.map((item) => item.phrasing ?? 'of no phrasing'))}), sha256 ${sha256.slice(0, 12)}`,
  );
});
