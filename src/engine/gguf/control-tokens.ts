import type { TokenId } from '../token-id.ts';
import { readGgufFile } from './gguf-file.ts';

/** llama.cpp's number of the kind of token that no text becomes. */
const CONTROL = 3;

/** The control tokens of a model, by its file. @throws BenchError `bad-model` */
export function controlTokensOf(path: string): readonly TokenId[] {
  const kinds = readGgufFile(path).metadata.get('tokenizer.ggml.token_type')?.value;
  return typeof kinds === 'object' ? [...kinds.values.keys()].filter((id) => kinds.values[id] === CONTROL) : [];
}
