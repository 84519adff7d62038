import { embedderNamed, languageModelNamed, shippedPathOf } from './registry.ts';

/** The language model of a run that names none. */
export const presetModelName = 'recall-base';

const { embedder } = languageModelNamed(presetModelName)!;

/** Paths of the models of a run that names none: a file and a folder. */
export const presetModels = {
  model: shippedPathOf(languageModelNamed(presetModelName)!)!,
  embedder: shippedPathOf(embedderNamed(embedder)!)!,
} as const;
