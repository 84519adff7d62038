import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BenchError, didYouMean } from '../base/bench-error.ts';
import { randomModelPrefix } from '../config/bench-config.ts';
import { hubPrefix } from './hub/hub-reference.ts';
import { type ModelEntry, modelRegistry, shippedPath } from './model-registry.ts';

/**
 * Resolves `--model`: a model that ships becomes its path, another of the registry its `hf:` address; `hf:` and `random:` names
 * are unchanged; any other name is taken as a path.
 * @param isServer keeps an unknown word unchanged, since a server may know it as a model name
 * @throws BenchError `bad-option` for an unknown word, unless `isServer`
 */
export function resolveModel(name: string, workingFolder: string, isServer = false): string {
  return resolveName('language-model', name, workingFolder, isServer);
}

/** Resolves `--embedder` as `resolveModel` does; an embedder of the registry that does not ship keeps its name. */
export function resolveEmbedder(name: string, workingFolder: string): string {
  return resolveName('embedder', name, workingFolder, false);
}

function resolveName(kind: ModelEntry['kind'], name: string, workingFolder: string, isServer: boolean): string {
  const entries = modelRegistry.filter((entry) => entry.kind === kind);
  const entry = entries.find((known) => known.name === name);
  if (entry !== undefined) return shippedPath(entry) ?? (kind === 'embedder' ? name : entry.source);
  if ([randomModelPrefix, hubPrefix].some((prefix) => name.startsWith(prefix))) return name;
  const path = resolve(workingFolder, name);
  if (/[/\\.]/.test(name) || existsSync(path)) return path;
  if (isServer) return name;
  const known = entries.map((other) => other.name);
  throw new BenchError(
    'bad-option',
    `--${kind === 'embedder' ? 'embedder' : 'model'}: unknown name "${name}"${didYouMean(name, known)}`,
    `known: ${known.join(', ')}; for a file or folder, write ./${name}`,
  );
}
