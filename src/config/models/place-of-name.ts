import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { randomModelPrefix } from '../bench-config.ts';
import { BenchError } from '../bench-error.ts';
import { hubPrefix } from '../hub/hub-reference.ts';
import { didYouMean } from '../nearest-name.ts';
import { embedders, type ModelEntry, languageModels, shippedPathOf } from './registry.ts';

/**
 * What `--model` stands for: the path of a model that ships, the `hf:` address of another one of the registry, `hf:` and
 * `random:` names as they are; any other name is a path of the user's.
 * @throws BenchError `bad-option` for a word that is neither a name nor a file
 */
export function placeOfModel(name: string, workingFolder: string): string {
  return placeOf(name, workingFolder, { option: '--model', entries: languageModels }, ({ source }) => source);
}

/** As `placeOfModel`, for `--embedder`; an embedder of the registry that does not ship keeps its name. */
export function placeOfEmbedder(name: string, workingFolder: string): string {
  return placeOf(name, workingFolder, { option: '--embedder', entries: embedders }, (entry) => entry.name);
}

function placeOf(
  name: string,
  workingFolder: string,
  { option, entries }: { readonly option: string; readonly entries: readonly ModelEntry[] },
  elsewhere: (entry: ModelEntry) => string,
): string {
  const entry = entries.find((known) => known.name === name);
  if (entry !== undefined) return shippedPathOf(entry) ?? elsewhere(entry);
  if ([randomModelPrefix, hubPrefix].some((prefix) => name.startsWith(prefix))) return name;
  const path = resolve(workingFolder, name);
  if (/[/\\.]/.test(name) || existsSync(path)) return path;
  const known = entries.map((other) => other.name);
  throw new BenchError(
    'bad-option',
    `${option}: unknown name "${name}"${didYouMean(name, known)}`,
    `known: ${known.join(', ')}; for a file or folder, write ./${name}`,
  );
}
