import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { BenchError, didYouMean } from '../base/bench-error.ts';
import { type PromptText, promptTextSchema, randomModelPrefix } from '../config/bench-config.ts';
import { hubPrefix } from './hub/hub-reference.ts';
import { fileChecksum } from './hub/file-checksum.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const bytes = z.number().int().positive();
/** A Python package that contains a file, as pip takes it: `name==version`; its wheel is pure Python. */
const pythonPackage = z.string().regex(/^[a-z0-9-]+==[0-9.]+$/);

const common = {
  /** As `--model` or `--embedder` takes it. */
  name: z.string().regex(/^[a-z0-9][a-z0-9.-]*$/),
  /** One line: size, languages, window. */
  summary: z.string().min(1),
  /** The place of its files: `hf:org/repo@revision/file`, `hf:org/repo@revision`, or a path in this package. */
  source: z.string().min(1),
  licence: z.string().min(1),
};

const promptDefaultsSchema = z
  .strictObject({
    /** The bench's own form of the prompt, or the model's chat template. */
    template: z.enum(['plain', 'chat']),
    systemPrompt: promptTextSchema,
    /** The line above the memories, in place of the bench's own. */
    memoryHeader: promptTextSchema.exactOptional(),
    labels: z.enum(['index', 'bullet']),
    /** Text with which the answer begins; `item` for each item's own, `none` for no text. */
    answerPrefix: z.string().min(1),
  })
  .readonly();

/** How a model is prompted unless options say otherwise. */
export type PromptDefaults = z.output<typeof promptDefaultsSchema>;

const languageModelSchema = z
  .strictObject({
    kind: z.literal('language-model'),
    ...common,
    package: pythonPackage.exactOptional(),
    /** Packages that each contain a part of its file (`.bin`), in the order in which parts are joined. */
    parts: z.array(pythonPackage).min(2).readonly().exactOptional(),
    sha256,
    bytes,
    embedder: z.string(),
    /** Folders of its measurements. */
    measured: z.string().min(1),
    asked: promptDefaultsSchema,
  })
  .readonly();

const embedderSchema = z
  .strictObject({
    kind: z.literal('embedder'),
    ...common,
    /** Files by path in the embedder's folder. `onHub`: false if only the package is known to have the file. */
    files: z.array(
      z
        .strictObject({
          path: z.string().min(1),
          sha256,
          bytes,
          package: pythonPackage.exactOptional(),
          onHub: z.boolean().default(true),
        })
        .readonly(),
    ),
  })
  .readonly();

const registrySchema = z.array(z.discriminatedUnion('kind', [languageModelSchema, embedderSchema])).readonly();

export type LanguageModelEntry = z.output<typeof languageModelSchema>;
export type EmbedderEntry = z.output<typeof embedderSchema>;
export type ModelEntry = LanguageModelEntry | EmbedderEntry;

const packageFolder = new URL('../../', import.meta.url);

/** Models and embedders that are known by name: `models/registry.json`. */
export const modelRegistry: readonly ModelEntry[] = registrySchema.parse(
  JSON.parse(readFileSync(new URL('models/registry.json', packageFolder), 'utf8')),
);

export const languageModels = modelRegistry.filter((entry) => entry.kind === 'language-model');
export const embedders = modelRegistry.filter((entry) => entry.kind === 'embedder');

/** The path of an entry that ships with this package: a file, or an embedder's folder; undefined for any other. */
export function shippedPath({ source }: ModelEntry): string | undefined {
  return source.startsWith(hubPrefix) ? undefined : fileURLToPath(new URL(source, packageFolder));
}

export function languageModelNamed(name: string): LanguageModelEntry | undefined {
  return languageModels.find((entry) => entry.name === name);
}

export function embedderNamed(name: string): EmbedderEntry | undefined {
  return embedders.find((entry) => entry.name === name);
}

/** The entry of a file by its sha-256 in hex, whatever the file is called. */
export function languageModelWithHash(hash: string): LanguageModelEntry | undefined {
  return languageModels.find((entry) => entry.sha256 === hash);
}

/** The entry of a file by its content; undefined if there is none. Hashes only files as long as an entry's. */
export async function languageModelOfFile(path: string): Promise<LanguageModelEntry | undefined> {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (!languageModels.some(({ bytes }) => bytes === size)) return undefined;
  // If the file cannot be read, opening the model will report it.
  const hash = await fileChecksum(path).catch(() => undefined);
  return hash === undefined ? undefined : languageModelWithHash(hash);
}

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

/** Defaults for models that are not in the registry: with these, the models in it answered from their notes. */
const untried: Omit<PromptDefaults, 'template'> = {
  systemPrompt: { en: 'Answer with the exact words of the notes.', zh: '请用笔记中的原话回答。' },
  memoryHeader: { en: 'Relevant information:', zh: '相关信息：' },
  labels: 'index',
  answerPrefix: 'According to your notes,',
};
const untriedAnswerPrefix: PromptText = { en: untried.answerPrefix, zh: '根据你的笔记，' };

/** Prompt defaults of a model: by its entry, else `untried`, in its chat template if it has one. */
export function defaultPrompt(entry: LanguageModelEntry | undefined, hasChatTemplate: boolean): PromptDefaults {
  return entry?.asked ?? { ...untried, template: hasChatTemplate ? 'chat' : 'plain' };
}

/**
 * Answer prefix for questions that have none themselves; empty for none.
 * @param answerPrefix the option: `none`, `item`, or a text
 */
export function fallbackAnswerPrefix(answerPrefix: string, defaults: PromptDefaults): PromptText {
  const isText = (prefix: string): boolean => prefix !== 'none' && prefix !== 'item';
  if (isText(answerPrefix) && answerPrefix !== untried.answerPrefix) return answerPrefix;
  if (defaults.answerPrefix === 'none') return '';
  const isOwn = isText(defaults.answerPrefix) && defaults.answerPrefix !== untried.answerPrefix;
  return isOwn ? defaults.answerPrefix : untriedAnswerPrefix;
}
