import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../../base/bench-error.ts';

/** A sentence encoder on disk, in the layout that transformers.js and optimum share. */
export interface ModelFolder {
  readonly path: string;
  readonly name: string;
  /** The weights: `onnx/model.onnx`, or `onnx/model_quantized.onnx` where there is no other. */
  readonly weightsPath: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly tokenizer: Readonly<Record<string, unknown>>;
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
}

/** The files of a sentence encoder that are read, by their places in its folder. */
export const modelFiles = {
  required: ['config.json', 'tokenizer.json', 'tokenizer_config.json'],
  /** The first that exists is used. */
  weights: ['onnx/model.onnx', 'onnx/model_quantized.onnx'],
  /** Files of sentence-transformers: pooling, longest text, prompts. */
  optional: ['modules.json', '1_Pooling/config.json', 'sentence_bert_config.json', 'config_sentence_transformers.json'],
} as const;

/**
 * Reads a model's folder, except its weights.
 * @throws BenchError `bad-model` naming the folder and the files that are missing or broken
 */
export function readModelFolder(folder: string): ModelFolder {
  const path = resolve(folder);
  const weightsPath = modelFiles.weights.map((file) => join(path, file)).find((file) => existsSync(file));
  const missing: string[] = modelFiles.required.filter((file) => !existsSync(join(path, file)));
  if (weightsPath === undefined) missing.push(modelFiles.weights.join(' or '));
  if (weightsPath === undefined || missing.length > 0) {
    throw badModel(path, existsSync(path) ? `lacks ${missing.join(', ')}` : 'does not exist');
  }
  return {
    path,
    name: basename(path),
    weightsPath,
    config: readObject(path, 'config.json'),
    tokenizer: readObject(path, 'tokenizer.json'),
    tokenizerConfig: readObject(path, 'tokenizer_config.json'),
  };
}

/** SHA-256 of a file, in hexadecimal. */
export async function fileSha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Error for a folder that is not a usable embedding model. @param problem completes the sentence "embedding model …" */
export function badModel(path: string, problem: string, cause?: unknown): BenchError {
  return new BenchError(
    'bad-model',
    `embedding model ${path} ${problem}`,
    `--embedder takes a folder with config.json, tokenizer.json, tokenizer_config.json and ${modelFiles.weights.join(' or ')}`,
    cause,
  );
}

function readObject(path: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(readFileSync(join(path, file), 'utf8'));
    if (typeof document === 'object' && document !== null) return document as Record<string, unknown>;
    throw new Error('not a JSON object');
  } catch (error) {
    throw badModel(path, `has a broken ${file}: ${(error as Error).message}`, error);
  }
}
