import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fetchedFile, publicDatasetNames, publicDatasetOrigins } from '../config/public-datasets.ts';
import { shippedDatasets } from '../config/shipped-datasets.ts';
import type { ContextWindow } from './generators/dataset-generator.ts';
import { generators, PRESET_SEED, questionSuites } from './generators/generator-registry.ts';
import { readDataset } from './read-dataset.ts';
import type { WrittenRecord } from './record-schemas.ts';

/** A public data set, whose file users download: what it is, its licence, and where the file is. */
export type PublicDatasetEntry = ReturnType<typeof publicDatasets>[number];

/** A data set known by name, as `list datasets` shows it: shipped, generated from a seed, or both. */
export type CatalogueEntry = Awaited<ReturnType<typeof datasetCatalogue>>[number];

/**
 * Lists the data sets known by name, shipped ones first. The hash is that of the file; of a data set that does not ship, of what
 * its generator writes with its preset seed and users.
 * @param window that generated memories must fit
 */
export async function datasetCatalogue(window: ContextWindow) {
  const shipped = shippedDatasets();
  const entries = [];
  for (const [name, path] of shipped) {
    const { language, users, sha256 } = await readDataset(path);
    const suites = generators.find((generator) => generator.name === name)?.suites ?? questionSuites;
    const memories = users.reduce((sum, user) => sum + user.memories.length, 0);
    const items = users.reduce((sum, user) => sum + user.items.length, 0);
    entries.push({ name, ships: true, suites, language, users: users.length, memories, items, sha256 });
  }
  for (const { name, suites, language, presetUsers: users, make } of generators) {
    if (shipped.has(name)) continue;
    const text = await make(PRESET_SEED, users, window);
    const records = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as WrittenRecord);
    const memories = records.filter(({ type }) => type === 'memory').length;
    const items = records.filter(({ type }) => type === 'item' || type === 'question').length;
    const sha256 = createHash('sha256').update(text).digest('hex');
    entries.push({ name, ships: false, suites, language, users, memories, items, sha256 });
  }
  return entries;
}

export function publicDatasets() {
  return publicDatasetNames.map((name) => {
    const file = fetchedFile(name);
    const ships = false as const;
    return { name, ships, ...publicDatasetOrigins[name], texts: 'withheld', fetched: existsSync(file) ? file : null };
  });
}
