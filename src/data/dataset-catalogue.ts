import { existsSync } from 'node:fs';
import { fetchedFile, publicDatasetNames, publicDatasetOrigins } from '../config/public-datasets.ts';
import { shippedDatasets } from '../config/shipped-datasets.ts';
import { generators, questionSuites } from './generators/generator-registry.ts';
import { readDataset } from './read-dataset.ts';

/** A public data set, whose file users download: what it is, its licence, and where the file is. */
export type PublicDatasetEntry = ReturnType<typeof publicDatasets>[number];

/** A data set known by name, as `list datasets` shows it: shipped, generated from a seed, or both. */
export type CatalogueEntry = Awaited<ReturnType<typeof datasetCatalogue>>[number];

/** Lists the data sets known by name, shipped ones first; what others hold depends on the seed and the model's window. */
export async function datasetCatalogue() {
  const shipped = shippedDatasets();
  const shipping = Array.from(shipped, async ([name, path]) => {
    const { language, users, sha256 } = await readDataset(path);
    const suites = generators.find((generator) => generator.name === name)?.suites ?? questionSuites;
    const memories = users.reduce((sum, user) => sum + user.memories.length, 0);
    const items = users.reduce((sum, user) => sum + user.items.length, 0);
    return { name, ships: true, suites, language, users: users.length, memories, items, sha256 };
  });
  const generated = generators
    .filter(({ name }) => !shipped.has(name))
    .map(({ name, suites, language, presetUsers: users }) => {
      return { name, ships: false, suites, language, users, memories: null, items: null, sha256: null };
    });
  return [...(await Promise.all(shipping)), ...generated];
}

export function publicDatasets() {
  return publicDatasetNames.map((name) => {
    const file = fetchedFile(name);
    const ships = false as const;
    return { name, ships, ...publicDatasetOrigins[name], texts: 'withheld', fetched: existsSync(file) ? file : null };
  });
}
