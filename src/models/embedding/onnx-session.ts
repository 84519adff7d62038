import { setImmediate } from 'node:timers/promises';
import type { Env, InferenceSession, TensorConstructor } from 'onnxruntime-web';
import { BenchError } from '../../base/bench-error.ts';

/** Runtimes of ONNX models, in the order in which they are tried: native where it is installed, else WebAssembly. */
export const onnxRuntimeNames = ['onnxruntime-node', 'onnxruntime-web'] as const;

/** An encoder in a runtime, on one thread. */
export type OnnxSession = Awaited<ReturnType<typeof openOnnxSession>>;

interface Runtime {
  readonly InferenceSession: {
    create(path: string, options: InferenceSession.SessionOptions): Promise<InferenceSession>;
  };
  readonly Tensor: TensorConstructor;
  readonly env: Env;
}

/**
 * Opens an ONNX file in the native runtime where it is installed and works, else in WebAssembly.
 * @param forced the only runtime to try; default: the environment variable `DKI_BENCH_ONNX_RUNTIME`
 * @throws BenchError `bad-option` if the forced runtime is unknown or does not work; the runtime's error for a bad file
 */
export async function openOnnxSession(path: string, forced = process.env['DKI_BENCH_ONNX_RUNTIME']) {
  const { name, runtime } = await loadRuntime(forced === '' ? undefined : forced);
  const isWeb = name === 'onnxruntime-web';
  // One thread: the default, one spinning thread per core, would slow the language model during measurements.
  if (isWeb) runtime.env.wasm.numThreads = 1;
  const session = await runtime.InferenceSession.create(
    path,
    isWeb
      ? { executionProviders: ['wasm'] }
      : { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 },
  );
  return {
    runtime: `${name} ${runtime.env.versions.common}`,
    inputs: session.inputNames,
    /** Evaluates token ids of one text. @param feeds by name of input, one number per token */
    run: async (feeds: Readonly<Record<string, readonly number[]>>) => {
      // WebAssembly blocks this thread, so other work of the process runs between texts.
      if (isWeb) await setImmediate();
      const tensors = Object.entries(feeds).map(([input, values]) => [
        input,
        new runtime.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]),
      ]);
      return session.run(Object.fromEntries(tensors) as InferenceSession.FeedsType);
    },
  };
}

async function loadRuntime(forced: string | undefined): Promise<{ readonly name: string; readonly runtime: Runtime }> {
  if (forced !== undefined && !(onnxRuntimeNames as readonly string[]).includes(forced)) {
    const hint = `DKI_BENCH_ONNX_RUNTIME is one of ${onnxRuntimeNames.join(', ')}`;
    throw new BenchError('bad-option', `unknown ONNX runtime '${forced}'`, hint);
  }
  let cause: unknown;
  for (const name of forced === undefined ? onnxRuntimeNames : [forced]) {
    try {
      // The native runtime is an optional peer dependency: its install script fetches files that CPUs do not need.
      const runtime = name === 'onnxruntime-web' ? await import('onnxruntime-web') : await import('onnxruntime-node');
      return { name, runtime };
    } catch (error) {
      cause = error;
      const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
      if (forced !== undefined || name !== 'onnxruntime-node' || isMissing) continue;
      process.emitWarning(
        `${name} cannot be loaded: ${firstLine(error)}; WebAssembly is used instead`,
        'DkiBenchWarning',
      );
    }
  }
  const message = `ONNX runtime '${forced ?? onnxRuntimeNames.at(-1)!}' does not work here: ${firstLine(cause)}`;
  throw new BenchError('bad-option', message, 'unset DKI_BENCH_ONNX_RUNTIME, or install the runtime', cause);
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n')[0]!;
}
