/** Writes the data set of the bench, the same bytes for the same seed: `npm run data:make -- --seed 7`. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { templates } from '../src/config/templates.ts';
import { readDataset } from '../src/eval/dataset/reader.ts';
import type { WrittenRecord } from '../src/eval/dataset/schema.ts';
import { SeededRandom } from '../src/eval/random.ts';
import { drawEvaluationUsers } from '../src/eval/synthesis/evaluation-users.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '7' },
    users: { type: 'string', default: '40' },
    out: { type: 'string', default: 'datasets/recall-en.jsonl' },
  },
});

const VERSION = 1;

function whole(option: string, text: string, least: number): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new RangeError(`--${option} ${text}: expected a whole number from ${least}`);
}

function counted(labels: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, count]) => `${count} ${label}`)
    .join(', ');
}

const seed = whole('seed', values.seed, 0);
const users = drawEvaluationUsers(new SeededRandom(seed), whole('users', values.users, 1));
const records: WrittenRecord[] = [
  {
    type: 'dataset',
    name: 'recall-en',
    language: 'en',
    version: VERSION,
    seed,
    unknownAnswer: templates.unknownAnswer,
    userKinds: Object.fromEntries(users.map((user) => [user.userId, user.kind])),
  },
  ...users.flatMap((user) => [...user.memories, ...user.items]),
];

const temporary = `${values.out}.tmp`;
mkdirSync(dirname(values.out), { recursive: true });
writeFileSync(temporary, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
const { sha256 } = await readDataset(temporary);
renameSync(temporary, values.out);

const items = users.flatMap((user) => user.items);
const memories = users.flatMap((user) => user.memories);
console.log(
  `${values.out}: ${users.length} users (${counted(users.map((user) => user.kind))}), ${memories.length} memories, ` +
    `${items.length} items (${counted(items.map((item) => item.category))}; ` +
    `${counted(items.map((item) => item.phrasing ?? 'known'))}), sha256 ${sha256.slice(0, 12)}`,
);
