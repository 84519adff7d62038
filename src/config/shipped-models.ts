import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../models', import.meta.url));

/** The files of the language models that ship, by the name that `--model` takes. */
export const shippedLanguageModels: ReadonlyMap<string, string> = new Map(
  ['recall-base', 'recall-block'].map((name) => [name, `${folder}/${name}/${name}-f16.gguf`]),
);

/** Default models: a file and a folder. */
export const presetModels = {
  model: shippedLanguageModels.get('recall-base')!,
  embedder: `${folder}/embed-en-zh`,
} as const;
