import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { Command } from 'commander';
import { TestFolder } from '../../test/model/bench-fixture.ts';
import { configOptions } from '../config/flags-from-schema.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { readDataset } from '../data/read-dataset.ts';
import { declare } from './init.ts';

async function init(folder: string): Promise<void> {
  const command = new Command();
  declare(command);
  await command.parseAsync([folder], { from: 'user' });
}

const jsonOf = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;

test('writes a valid configuration, readable data, and a schema of every option; overwrites nothing', async () => {
  using folder = new TestFolder();
  using _output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await init(folder.file('new'));
  const config = loadBenchConfig({ environment: {}, workingFolder: folder.file('new') });
  expect(config).toMatchObject({ limit: 60, seed: 7, topK: 5 });
  expect(config.model).toMatch(/SmolLM2/);
  const { users } = await readDataset(config.dataset[0]!);
  expect(users.map(({ userId, memories, items }) => [userId, memories.length, items.length])).toEqual([['ann', 2, 1]]);

  const schema = jsonOf(folder.file('new/dki-bench.schema.json')) as {
    properties: Record<string, { description: string; enum?: string[]; type?: string; default?: unknown }>;
  };
  expect(Object.keys(schema.properties)).toEqual(configOptions().map(({ key }) => key));
  expect(Object.values(schema.properties).every(({ description }) => description.length > 10)).toBe(true);
  expect(schema.properties['retriever']!.enum).toContain('hinted');
  expect(schema.properties['engine']!.enum).toContain('llama-server');
  expect(schema.properties['topK']).toMatchObject({ type: 'integer', default: 5 });

  const written = jsonOf(folder.file('new/dki-bench.config.json'));
  const options = Object.keys(written).filter((key) => !key.startsWith('//') && key !== '$schema');
  expect(options.every((key) => typeof written[`// ${key}`] === 'string' && key in schema.properties)).toBe(true);

  await expect(init(folder.file('new'))).rejects.toMatchObject({
    code: 'bad-option',
    message: expect.stringMatching(/new\/dki-bench\.config\.json exists already$/),
  });
});
