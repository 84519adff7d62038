/** The language models that ship, by the name that `--model` takes; from the package's root. */
export const shippedLanguageModels: ReadonlyMap<string, string> = new Map(
  ['recall-base', 'recall-block'].map((name) => [name, `models/${name}/${name}-q8_0.gguf`]),
);

/** What runs where nobody names a model; from the package's root. */
export const presetModels = {
  model: shippedLanguageModels.get('recall-base')!,
  embedder: 'models/embed-en-zh',
} as const;
