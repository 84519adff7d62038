import { coherenceData } from './coherence-data.ts';
import { contextData } from './context-data.ts';
import { coreferenceData } from './coreference-data.ts';
import type { DatasetGenerator } from './dataset-generator.ts';
import { makeRecallDataset } from './recall-data.ts';
import { retrievalData } from './retrieval-data.ts';
import { scalingData } from './scaling-data.ts';

export const PRESET_SEED = 7;

/** The suites that ask a data set of questions, whichever is named. */
export const questionSuites = ['main', 'ablation', 'alpha', 'latency', 'storage', 'isolation'];

const recallData = (['en', 'zh'] as const).map((language): DatasetGenerator => ({
  name: `recall-${language}`,
  suites: questionSuites,
  language,
  presetUsers: 20,
  make: async (seed, users) => makeRecallDataset(language, seed, users).text,
}));

/** The data sets that `data make` generates; scripts/datasets makes the facts that ship. */
export const generators: readonly DatasetGenerator[] = [
  ...recallData,
  ...contextData,
  ...coherenceData,
  ...coreferenceData,
  retrievalData,
  ...scalingData,
];
