import { embedderNamed, languageModelNamed, shippedPathOf } from './registry.ts';

/** The language model of a run that names none. */
export const presetModelName = 'recall-base';

/** The embedder that goes with it, and ships too. */
export const presetEmbedderName = languageModelNamed(presetModelName)!.embedder;

/** Paths of the models of a run that names none: a file and a folder. */
export const presetModels = {
  model: shippedPathOf(languageModelNamed(presetModelName)!)!,
  embedder: shippedPathOf(embedderNamed(presetEmbedderName)!)!,
} as const;
