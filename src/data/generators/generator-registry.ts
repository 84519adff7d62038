import { coherenceData, contextData, coreferenceData } from './growing-user-generators.ts';
import { multiTurnData, scalingData } from './growing-user-generators.ts';
import type { DatasetGenerator } from './dataset-generator.ts';
import { makeRecallDataset } from './recall-data.ts';
import { retrievalData } from './retrieval-data.ts';
import { rulerData } from './ruler.ts';
import { BenchError, didYouMean } from '../../base/bench-error.ts';

/** Suites that run on any data set with questions. */
export const questionSuites = ['main', 'ablation', 'alpha', 'latency', 'storage', 'isolation'];

const recallData = (['en', 'zh'] as const).map((language): DatasetGenerator => ({
  name: `recall-${language}`,
  suites: questionSuites,
  language,
  presetUsers: 20,
  make: async (seed, users) => makeRecallDataset(language, seed, users).text,
}));

/** Generators for `data make`; scripts/datasets generates the facts data sets that ship. */
export const generators: readonly DatasetGenerator[] = [
  ...recallData,
  ...contextData,
  ...coherenceData,
  ...coreferenceData,
  retrievalData,
  ...scalingData,
  ...multiTurnData,
  { ...rulerData, suites: questionSuites },
];

/**
 * Finds a generator by data set or suite.
 * @throws BenchError `bad-option` for an unknown name or a suite with several
 */
export function findGenerator(name: string): DatasetGenerator {
  const named = generators.find((generator) => generator.name === name);
  if (named !== undefined) return named;
  const ofSuite = generators.filter(({ suites }) => suites.includes(name));
  if (ofSuite.length === 1) return ofSuite[0]!;
  const names = generators.map((generator) => generator.name);
  if (ofSuite.length > 1) {
    const message = `suite ${name} has ${ofSuite.length} data sets`;
    throw new BenchError('bad-option', message, `name one: ${ofSuite.map((generator) => generator.name).join(', ')}`);
  }
  const suites = [...new Set(generators.flatMap((generator) => generator.suites))];
  const message = `unknown data set or suite "${name}"${didYouMean(name, [...names, ...suites])}`;
  throw new BenchError('bad-option', message, `data sets: ${names.join(', ')}; suites: ${suites.join(', ')}`);
}
