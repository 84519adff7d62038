import { setImmediate } from 'node:timers/promises';
import type { Env, InferenceSession, Tensor, TensorConstructor } from 'onnxruntime-web';
import { BenchError } from '../../base/bench-error.ts';

/** Runtimes of ONNX models, in the order in which they are tried. */
export const onnxRuntimeNames = ['onnxruntime-node', 'onnxruntime-web'] as const;
export type OnnxRuntimeName = (typeof onnxRuntimeNames)[number];

/** An encoder in a runtime, on one thread. */
export interface OnnxSession {
  /** Name and version of the runtime. */
  readonly runtime: string;
  readonly inputs: readonly string[];
  /** Evaluates token ids of one text. @param feeds by name of input, one number a token */
  run(feeds: Readonly<Record<string, readonly number[]>>): Promise<Readonly<Record<string, Tensor | undefined>>>;
}

interface LoadedRuntime {
  readonly runtime: {
    readonly InferenceSession: {
      create(path: string, options: InferenceSession.SessionOptions): Promise<InferenceSession>;
    };
    readonly Tensor: TensorConstructor;
    readonly env: Env;
  };
  readonly options: InferenceSession.SessionOptions;
  /** Evaluates on this thread: then other work of the process runs between texts. */
  readonly blocks: boolean;
}

// One thread: the default, one spinning thread a core, would take cores from the language model whose time is measured.
const loaders: Readonly<Record<OnnxRuntimeName, () => Promise<LoadedRuntime>>> = {
  // An optional peer: its install script fetches files that the CPU does not need.
  'onnxruntime-node': async () => ({
    runtime: await import('onnxruntime-node'),
    options: { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 },
    blocks: false,
  }),
  'onnxruntime-web': async () => {
    const runtime = await import('onnxruntime-web');
    runtime.env.wasm.numThreads = 1;
    return { runtime, options: { executionProviders: ['wasm'] }, blocks: true };
  },
};

/**
 * Opens an ONNX file in the native runtime where it is installed and works, else in WebAssembly.
 * @param forced the only runtime to try; default: the environment variable `DKI_BENCH_ONNX_RUNTIME`
 * @throws BenchError `bad-option` if the forced runtime is unknown or does not work here; the runtime's own error if the
 * file cannot be read or is not a model
 */
export async function openOnnxSession(
  path: string,
  forced = process.env['DKI_BENCH_ONNX_RUNTIME'],
): Promise<OnnxSession> {
  const { name, loaded } = await loadRuntime(forced === '' ? undefined : forced);
  const { runtime, options, blocks } = loaded;
  const session = await runtime.InferenceSession.create(path, options);
  return {
    runtime: `${name} ${runtime.env.versions.common}`,
    inputs: session.inputNames,
    run: async (feeds) => {
      if (blocks) await setImmediate();
      const tensors = Object.entries(feeds).map(([input, values]) => [
        input,
        new runtime.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]),
      ]);
      return session.run(Object.fromEntries(tensors) as InferenceSession.FeedsType);
    },
  };
}

async function loadRuntime(forced: string | undefined) {
  let cause: unknown;
  for (const name of forced === undefined ? onnxRuntimeNames : [forced]) {
    if (!Object.hasOwn(loaders, name)) {
      const hint = `DKI_BENCH_ONNX_RUNTIME is one of ${onnxRuntimeNames.join(', ')}`;
      throw new BenchError('bad-option', `unknown ONNX runtime '${name}'`, hint);
    }
    try {
      return { name, loaded: await loaders[name as OnnxRuntimeName]() };
    } catch (error) {
      cause = error;
      if (name !== 'onnxruntime-node' || (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') continue;
      process.emitWarning(`${name} cannot be loaded: ${firstLine(error)}; WebAssembly is used instead`, 'DkiBenchWarning');
    }
  }
  const message = `ONNX runtime '${forced ?? onnxRuntimeNames.at(-1)!}' does not work here: ${firstLine(cause)}`;
  throw new BenchError('bad-option', message, 'unset DKI_BENCH_ONNX_RUNTIME, or install the runtime', cause);
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n')[0]!;
}
