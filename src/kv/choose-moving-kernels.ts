import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { movingKernelNames, type MovingKernels, type MovingKernelsName } from './moving-kernels.ts';
import { loadNativeMovingKernels, nativeMovingKernelsFile } from './native-moving-kernels.ts';
import { proveMovingKernels } from './prove-moving-kernels.ts';
import { wasmMovingKernels } from './wasm-moving-kernels.ts';

/** The kernels that move blocks, and why native ones do not. */
export interface MovingKernelsChoice {
  readonly kernels: MovingKernels;
  /** In a few words; null where native kernels were chosen. */
  readonly passedOver: string | null;
}

/**
 * Chooses native kernels if they were compiled here and give the bits of WebAssembly in a trial, else those.
 * @param forced `native` or `wasm`; default: the environment variable `DKI_BENCH_KV_KERNELS`
 * @throws BenchError `bad-option` for another name, and if native kernels are asked for and do not work here
 */
export function chooseMovingKernels(forced = process.env['DKI_BENCH_KV_KERNELS'] ?? ''): MovingKernelsChoice {
  if (forced !== '' && !isName(forced)) {
    const hint = `DKI_BENCH_KV_KERNELS is one of ${movingKernelNames.join(', ')}`;
    throw new BenchError('bad-option', `unknown kernels for K/V '${forced}'`, hint);
  }
  if (forced === 'wasm') return { kernels: wasmMovingKernels, passedOver: 'DKI_BENCH_KV_KERNELS is wasm' };
  try {
    const kernels = loadNativeMovingKernels();
    proveMovingKernels(kernels);
    return { kernels, passedOver: null };
  } catch (cause) {
    const reason = existsSync(nativeMovingKernelsFile) ? reasonOf(cause as Error) : 'not compiled';
    if (forced === '') return { kernels: wasmMovingKernels, passedOver: reason };
    throw new BenchError(
      'bad-option',
      `native kernels for K/V do not work here: ${reason}`,
      'unset DKI_BENCH_KV_KERNELS, or run npm rebuild after apt-get install gcc libc6-dev',
      cause,
    );
  }
}

/** One line without local folders, since reports are shared. */
function reasonOf({ message }: Error): string {
  return message.split('\n')[0]!.replaceAll(nativeMovingKernelsFile, basename(nativeMovingKernelsFile));
}

let chosen: MovingKernelsChoice | undefined;

/** The choice of this process, made when it is first needed. @throws BenchError as `chooseMovingKernels` */
export function chosenMovingKernels(): MovingKernelsChoice {
  chosen ??= chooseMovingKernels();
  return chosen;
}

/** The kernels of this process. */
export function movingKernels(): MovingKernels {
  return chosenMovingKernels().kernels;
}

function isName(name: string): name is MovingKernelsName {
  return (movingKernelNames as readonly string[]).includes(name);
}
