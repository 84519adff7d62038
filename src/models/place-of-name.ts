import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { randomModelPrefix } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { hubPrefix } from './hub/hub-reference.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { importedModels } from './imported-models.ts';
import { embedders, type ModelEntry, languageModels, shippedPathOf } from './registry.ts';

/**
 * The place that `--model` stands for: the path of a model that ships, the `hf:` address of another one of the registry, `hf:` and
 * `random:` names as they are, what was imported; any other name is a path of the user's.
 * @param others what becomes of a word that is neither a name nor a file: a server may know it
 * @throws BenchError `bad-option` for such a word, where it is refused
 */
export function placeOfModel(name: string, workingFolder: string, others: 'refused' | 'kept' = 'refused'): string {
  const all = { option: '--model', kind: 'language-model', entries: languageModels } as const;
  return placeOf(name, workingFolder, all, ({ source }) => source, others);
}

/** As `placeOfModel`, for `--embedder`; an embedder of the registry that does not ship keeps its name. */
export function placeOfEmbedder(name: string, workingFolder: string): string {
  const all = { option: '--embedder', kind: 'embedder', entries: embedders } as const;
  return placeOf(name, workingFolder, all, (entry) => entry.name);
}

/** All that an option can name, apart from files. */
interface NamedModels {
  readonly option: string;
  readonly kind: ModelEntry['kind'];
  readonly entries: readonly ModelEntry[];
}

function placeOf(
  name: string,
  workingFolder: string,
  { option, kind, entries }: NamedModels,
  elsewhere: (entry: ModelEntry) => string,
  others: 'refused' | 'kept' = 'refused',
): string {
  const entry = entries.find((known) => known.name === name);
  if (entry !== undefined) return shippedPathOf(entry) ?? elsewhere(entry);
  if ([randomModelPrefix, hubPrefix].some((prefix) => name.startsWith(prefix))) return name;
  const imported = importedModels().filter(({ kind: other }) => other === kind);
  const path = resolve(workingFolder, name);
  const kept = imported.find((model) => model.name === name);
  if (kept !== undefined && !existsSync(path)) return kept.path;
  if (/[/\\.]/.test(name) || existsSync(path)) return path;
  if (others === 'kept') return name;
  const known = [...entries, ...imported].map((other) => other.name);
  throw new BenchError(
    'bad-option',
    `${option}: unknown name "${name}"${didYouMean(name, known)}`,
    `known: ${known.join(', ')}; for a file or folder, write ./${name}`,
  );
}
