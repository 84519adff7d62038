import { coherenceData } from './coherence-data.ts';
import { contextData } from './context-data.ts';
import { coreferenceData } from './coreference-data.ts';
import type { DatasetGenerator } from './dataset-generator.ts';
import { factsData } from './facts/facts-data.ts';
import { makeRecallDataset } from './recall-dataset.ts';
import { retrievalData } from './retrieval-data.ts';
import { scalingData } from './scaling-data.ts';

/** The seed of the data sets that ship. */
export const PRESET_SEED = 7;

const recallData = (['en', 'zh'] as const).map((language): DatasetGenerator => ({
  name: `recall-${language}`,
  suites: ['main', 'ablation', 'alpha', 'latency', 'storage', 'isolation'],
  language,
  presetUsers: 20,
  make: async (seed, users) => makeRecallDataset(language, seed, users).text,
}));

/** Generators of all data sets, those of the suites included. */
export const generators: readonly DatasetGenerator[] = [
  ...recallData,
  ...factsData,
  ...contextData,
  ...coherenceData,
  ...coreferenceData,
  retrievalData,
  ...scalingData,
];
