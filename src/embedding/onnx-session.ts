import { createRequire } from 'node:module';

interface OnnxRuntime {
  InferenceSession: { create(path: string, options: object): Promise<object> };
}

/**
 * Opens an ONNX file on one thread: transformers.js hands no options to its sessions, and the runtime's default, one
 * spinning thread a core, takes the cores from the language model whose time is measured.
 *
 * @throws the runtime's own error where the file cannot be read or is no model
 */
export async function openOnnxSession(path: string): Promise<object> {
  // The copy that transformers.js itself runs on: it does not recognise the tensors of another.
  const require = createRequire(createRequire(import.meta.url).resolve('@xenova/transformers'));
  const { InferenceSession } = require('onnxruntime-node') as OnnxRuntime;
  return InferenceSession.create(path, { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 });
}
