import { createHash } from 'node:crypto';
import { shippedDatasets } from '../../config/shipped-datasets.ts';
import type { DatasetGenerator, ModelRoom } from '../synthesis/dataset-generator.ts';
import { generators, PRESET_SEED } from '../synthesis/generators.ts';
import type { Dataset } from './dataset.ts';
import { readDataset } from './reader.ts';
import type { WrittenRecord } from './schema.ts';

/** A data set that can be named: one that ships, one that is made by seed, or both. */
export interface CatalogueEntry {
  readonly name: string;
  readonly ships: boolean;
  /** The suites that make it; none where no generator does. */
  readonly suites: readonly string[];
  readonly language: Dataset['language'];
  readonly users: number;
  readonly memories: number;
  readonly items: number;
  /** Of the file's bytes; for one that does not ship, of those that its preset seed and users make. */
  readonly sha256: string;
}

/** Counts the records of a text that a generator made. */
function madeEntry({ name, suites, language, presetUsers, make }: DatasetGenerator, room: ModelRoom): CatalogueEntry {
  const text = make(PRESET_SEED, presetUsers, room);
  const records = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as WrittenRecord);
  const memories = records.filter(({ type }) => type === 'memory').length;
  const items = records.filter(({ type }) => type === 'item' || type === 'question').length;
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { name, ships: false, suites, language, users: presetUsers, memories, items, sha256 };
}

async function shippedEntry(name: string, path: string): Promise<CatalogueEntry> {
  const { language, users, sha256 } = await readDataset(path);
  return {
    name,
    ships: true,
    suites: generators.find((generator) => generator.name === name)?.suites ?? [],
    language,
    users: users.length,
    memories: users.reduce((sum, user) => sum + user.memories.length, 0),
    items: users.reduce((sum, user) => sum + user.items.length, 0),
    sha256,
  };
}

/** All data sets that can be named, those that ship first. @param room of the model that made ones are to fit */
export async function datasetCatalogue(room: ModelRoom): Promise<CatalogueEntry[]> {
  const shipped = shippedDatasets();
  const entries: CatalogueEntry[] = [];
  for (const [name, path] of shipped) entries.push(await shippedEntry(name, path));
  return [...entries, ...generators.filter(({ name }) => !shipped.has(name)).map((one) => madeEntry(one, room))];
}
