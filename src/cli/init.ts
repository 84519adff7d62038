import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { configFileName, configFileSchema } from '../config/config-file.ts';
import { writeText } from '../data/write-lines.ts';
import { shownPath } from './command-line.ts';
import { engineNames } from '../bench/compose.ts';

const SCHEMA_FILE = 'dki-bench.schema.json';
const DATA_FILE = 'my-memories.jsonl';

/** Options that somebody who begins sets first, each behind what it says. */
const config = {
  $schema: `./${SCHEMA_FILE}`,
  '// dataset': 'Data sets to ask: names that `dki-bench datasets` lists, or files.',
  dataset: `./${DATA_FILE}`,
  '// model': 'A name that `dki-bench models` lists, a GGUF file, or hf:org/repo/file.gguf.',
  model: 'smollm2-135m',
  '// arms': 'Ways of giving memories to the model, as `dki-bench arms` lists them.',
  arms: ['none', 'oracle', 'rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-wrong'],
  '// topK': 'Most memories that are retrieved for a question.',
  topK: 5,
  '// limit': 'About how many questions are asked, of whole users drawn by the seed.',
  limit: 60,
  '// seed': 'The same seed draws the same users, orders and samples.',
  seed: 7,
};

/** A memory, one that no question asks for, and a question. */
const records = [
  {
    ...{ type: 'memory', userId: 'ann', memoryId: 'm1', createdAt: '2026-03-01T09:00:00Z' },
    ...{ content: 'My dog is called Brenko.', value: 'Brenko', relation: 'dog' },
  },
  {
    ...{ type: 'memory', userId: 'ann', memoryId: 'm2', createdAt: '2026-03-02T09:00:00Z' },
    ...{ content: 'I work at the harbour in Turin.', value: 'harbour', relation: 'work' },
  },
  {
    ...{ type: 'item', itemId: 'q1', userId: 'ann', askedAt: '2026-06-01T09:00:00Z', category: 'plain' },
    ...{ query: 'What is my dog called?', answer: 'Brenko', evidence: ['m1'], relation: 'dog' },
  },
];

/** Declares `init`. */
export function declareInit(command: Command): void {
  command
    .description('write a configuration, its schema for editors, and a data set of three lines, to begin with')
    .argument('[folder]', 'folder to write them to', '.')
    .action(init);
}

async function init(folder: string): Promise<void> {
  const files = {
    [configFileName]: `${JSON.stringify(config, null, 2)}\n`,
    [SCHEMA_FILE]: `${JSON.stringify(configFileSchema(engineNames), null, 2)}\n`,
    [DATA_FILE]: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  };
  const taken = Object.keys(files).find((name) => existsSync(join(folder, name)));
  if (taken !== undefined) {
    throw new BenchError(
      'bad-option',
      `${shownPath(resolve(folder, taken))} is there already`,
      'name another folder, or move it',
    );
  }
  for (const [name, text] of Object.entries(files)) {
    await writeText(join(folder, name), text);
    process.stdout.write(`${shownPath(resolve(folder, name))}\n`);
  }
  const there = folder === '.' ? '' : `cd ${shownPath(resolve(folder))} && `;
  process.stdout.write(`\nnext: ${there}npx dki-bench data verify ${DATA_FILE} && npx dki-bench bench\n`);
}
