import { embedderNamed, languageModelNamed, shippedPath } from './model-registry.ts';

/** The language model of a run that names none. */
export const presetModelName = 'recall-base';

/** The embedder that goes with it, and ships too. */
export const presetEmbedderName = languageModelNamed(presetModelName)!.embedder;

/** The embedder for natural English questions, which does not ship. */
export const bestEmbedderName = 'minilm';

export const presetModels = {
  model: shippedPath(languageModelNamed(presetModelName)!)!,
  embedder: shippedPath(embedderNamed(presetEmbedderName)!)!,
} as const;
