import { statSync } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import { askedOf } from '../../models/asked.ts';
import { type ImportedModel, importedModels } from '../../models/imported-models.ts';
import { filesOf, type KeptState, keptStateOf, missingFilesOf } from '../../models/kept-files.ts';
import { type Asked, type ModelEntry, modelRegistry } from '../../models/registry.ts';
import type { EngineOpener } from '../../engine/engine-request.ts';

/** A model that can be named, as `models list` gives it. */
export interface ModelRow {
  readonly name: string;
  readonly kind: ModelEntry['kind'];
  /** Null for one that was imported and is in no registry, as are the two fields below. */
  readonly summary: string | null;
  readonly licence: string | null;
  readonly source: string | null;
  readonly bytes: number;
  readonly kept: KeptState;
  /** Files that the cache lacks, of a model that it has in part. */
  readonly missing: readonly MissingFile[];
  /** The file, or an embedder's folder, of this machine; null where it is not whole. */
  readonly path: string | null;
  /** How a language model is asked; null for an embedder, and for a file that cannot be read. */
  readonly asked: Asked | null;
  /** The embedder that goes with a language model; null for an embedder. */
  readonly embedder: string | null;
}

export interface MissingFile {
  readonly name: string;
  /** The Python package that carries it; null where none is known. */
  readonly package: string | null;
}

/** All models that can be named: those of the registry, then those that were imported. */
export async function modelRows(engines: EngineOpener): Promise<ModelRow[]> {
  const imported = importedModels().map((model) => rowOfImported(model, engines));
  return [...modelRegistry.map(rowOfEntry), ...(await Promise.all(imported))];
}

export function rowOfEntry(entry: ModelEntry): ModelRow {
  const { name, kind, summary, licence, source } = entry;
  const files = filesOf(entry);
  const kept = keptStateOf(entry);
  const isHere = kept === 'ships' || kept === 'whole';
  const first = files[0]!;
  const place = entry.kind === 'embedder' ? first.path.slice(0, -first.name.length - 1) : first.path;
  return {
    ...{ name, kind, summary, licence, source, kept },
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    missing: missingFilesOf(entry).map((file) => ({ name: file.name, package: file.package ?? null })),
    path: isHere ? place : null,
    asked: entry.kind === 'embedder' ? null : askedOf(entry, false),
    embedder: entry.kind === 'embedder' ? null : entry.embedder,
  };
}

export async function rowOfImported({ kind, name, path }: ImportedModel, engines: EngineOpener): Promise<ModelRow> {
  return {
    ...{ name, kind, summary: null, licence: null, source: null, path, kept: 'whole', missing: [], embedder: null },
    bytes: statSync(path).size,
    asked: kind === 'embedder' ? null : await askedOfFile(path, engines),
  };
}

async function askedOfFile(path: string, engines: EngineOpener): Promise<Asked | null> {
  try {
    return askedOf(undefined, (await engines.inspect(path)).model.chatTemplate !== null);
  } catch (error) {
    // The list shows it all the same, so that it can be removed.
    if (error instanceof BenchError) return null;
    throw error;
  }
}
