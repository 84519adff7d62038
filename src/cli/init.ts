import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { z } from 'zod';
import { benchConfigSchema } from '../config/bench-config.ts';
import { configOptions } from '../config/flags-from-schema.ts';
import { configFileName } from '../config/read-options.ts';
import { writeText } from '../data/write-lines.ts';
import { shellWord } from '../render/shell-word.ts';
import { withExamples } from './options.ts';
import { displayPath } from './output.ts';

const SCHEMA_FILE = 'dki-bench.schema.json';
const DATA_FILE = 'my-memories.jsonl';

/** The options that a new user sets first, each after a comment. */
const config = {
  $schema: `./${SCHEMA_FILE}`,
  '// dataset': 'Data sets to run: names that `dki-bench list datasets` shows, or files.',
  dataset: `./${DATA_FILE}`,
  '// model': 'A name that `dki-bench models` lists, a GGUF file, or hf:org/repo/file.gguf.',
  model: 'smollm2-135m',
  '// arms': 'Ways of giving memories to the model, as `dki-bench list arms` shows them.',
  arms: ['none', 'oracle', 'rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-wrong'],
  '// topK': 'Maximum number of memories retrieved for a question.',
  topK: 5,
  '// limit':
    'Approximate number of questions: users are drawn at random, by the seed, until about so many are reached.',
  limit: 60,
  '// seed': 'The same seed draws the same users, orders and samples.',
  seed: 7,
};

/** A memory, a second one that no question needs, and a question about the first. */
const records = `\
{"type":"memory","userId":"ann","memoryId":"m1","createdAt":"2026-03-01T09:00:00Z","content":"My dog is called Brenko.","value":"Brenko","relation":"dog"}
{"type":"memory","userId":"ann","memoryId":"m2","createdAt":"2026-03-02T09:00:00Z","content":"I work at the harbour in Turin.","value":"harbour","relation":"work"}
{"type":"item","itemId":"q1","userId":"ann","askedAt":"2026-06-01T09:00:00Z","category":"plain","query":"What is my dog called?","answer":"Brenko","evidence":["m1"],"relation":"dog"}
`;

export function declare(command: Command): void {
  command
    .description('write a configuration, its schema for editors, and a data set of three lines, to begin with')
    .argument('[folder]', 'folder to write them to', '.')
    .action(init);
  withExamples(command, {
    init: 'a configuration, its schema and three lines of data, in this folder',
    'init my-bench': 'in another folder',
    bench: 'runs what the configuration says',
  });
}

/** The JSON schema of the configuration file, for editors: types, limits, defaults and help of all options. */
function configFileSchema(): object {
  const schema = z.toJSONSchema(benchConfigSchema, { io: 'output', unrepresentable: 'any' });
  const described = configOptions().map(({ key, help }): [string, object] => [
    key,
    { ...(schema.properties![key] as object), description: help },
  ]);
  return {
    ...schema,
    title: configFileName,
    properties: Object.fromEntries(described),
    required: [],
    patternProperties: { [String.raw`^(?:\$schema$|//)`]: { type: 'string' } },
  };
}

async function init(folder: string): Promise<void> {
  const files = {
    [configFileName]: `${JSON.stringify(config, null, 2)}\n`,
    [SCHEMA_FILE]: `${JSON.stringify(configFileSchema(), null, 2)}\n`,
    [DATA_FILE]: records,
  };
  const taken = Object.keys(files).find((name) => existsSync(join(folder, name)));
  if (taken !== undefined) {
    const message = `${displayPath(resolve(folder, taken))} exists already`;
    throw new BenchError('bad-option', message, 'name another folder, or move the file');
  }
  for (const [name, text] of Object.entries(files)) {
    await writeText(join(folder, name), text);
    process.stdout.write(`${displayPath(resolve(folder, name))}\n`);
  }
  const there = folder === '.' ? '' : `cd ${shellWord(displayPath(resolve(folder)))} && `;
  process.stdout.write(`\nnext: ${there}npx dki-bench data verify ${DATA_FILE} && npx dki-bench bench\n`);
}
