import type { DatasetGenerator } from '../dataset-generator.ts';
import { factGrammars, type FactLanguage } from './fact-grammar.ts';
import { makeFactsDataset } from './facts-dataset.ts';

const splits = [
  { split: 'test', ending: '', presetUsers: 40 },
  { split: 'development', ending: '-dev', presetUsers: 20 },
] as const;

/** Natural facts about people, by language: test users, and development users on whom ways of asking may be chosen. */
export const factsData: readonly DatasetGenerator[] = (Object.keys(factGrammars) as FactLanguage[]).flatMap(
  (language) =>
    splits.map(({ split, ending, presetUsers }) => ({
      name: `facts-${language}${ending}`,
      suites: ['main', 'ablation', 'alpha', 'latency', 'storage', 'isolation'],
      language,
      presetUsers,
      make: async (seed, users) => makeFactsDataset(language, split, seed, users),
    })),
);
