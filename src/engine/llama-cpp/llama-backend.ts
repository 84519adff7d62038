import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Llama } from 'node-llama-cpp';
import { BenchError } from '../../base/bench-error.ts';
import type { GpuName } from '../../config/bench-config.ts';

type AcceleratorName = Exclude<GpuName, 'off' | 'auto'>;

/** Accelerator backends with a prebuilt binary for a platform, fastest first. */
export function supportedAccelerators(platform: string, arch: string): readonly AcceleratorName[] {
  if (platform === 'darwin') return arch === 'arm64' ? ['metal'] : [];
  return (platform === 'linux' || platform === 'win32') && arch === 'x64' ? ['cuda', 'vulkan'] : [];
}

const KEPT_LINES = 20;

/** One backend of each kind for all models: a second would silence the log of both (node-llama-cpp 3.21.1). */
const started = new Map<GpuName, Promise<LlamaBackend>>();

/** llama.cpp in this process, and its log, because its exceptions do not tell what went wrong. */
export type LlamaBackend = Awaited<ReturnType<typeof startBackend>>;

/**
 * The backend of this process, started from the prebuilt binary at the first call.
 * @param gpu `auto` takes the first accelerator with a binary and a device, else the CPU
 * @throws BenchError `not-found` if there is no binary for this machine, or no device
 */
export function llamaBackend(gpu: GpuName): Promise<LlamaBackend> {
  const backend = started.get(gpu) ?? (gpu === 'auto' ? chooseBackend() : startBackend(gpu));
  started.set(gpu, backend);
  return backend;
}

async function chooseBackend(): Promise<LlamaBackend> {
  for (const candidate of supportedAccelerators(process.platform, process.arch)) {
    try {
      return await llamaBackend(candidate);
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
    }
  }
  return llamaBackend('off');
}

async function startBackend(gpu: Exclude<GpuName, 'auto'>) {
  const complaints: string[] = [];
  const { getLlama, LlamaLogLevel, NoBinaryFoundError } = await import('node-llama-cpp');
  let llama: Llama;
  try {
    llama = await getLlama({
      gpu: gpu === 'off' ? false : gpu,
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      // 0: no shared limit, so each context gets exactly the threads that it requests.
      maxThreads: 0,
      logLevel: LlamaLogLevel.error,
      logger: (_level, message) => {
        complaints.push(message.trim());
        complaints.splice(0, complaints.length - KEPT_LINES);
      },
    });
  } catch (cause) {
    if (gpu !== 'off' && cause instanceof NoBinaryFoundError) throw await missingBinary(gpu, cause);
    if (!(cause instanceof NoBinaryFoundError)) {
      const [why] = (cause as Error).message.split('\n');
      throw new BenchError('not-found', `llama.cpp does not start: ${why}`, 'see npx dki-bench doctor', cause);
    }
    throw new BenchError(
      'not-found',
      `llama.cpp has no binary for ${process.platform}-${process.arch}`,
      process.execArgv.includes('--input-type=module')
        ? 'run the program from a file: node-llama-cpp tries its binary in a process that inherits --input-type=module'
        : 'install the optional packages of node-llama-cpp: npm ci, without --omit=optional',
      cause,
    );
  }
  if (gpu !== 'off') await requireDevice(llama, gpu);
  return {
    llama,
    name: gpu === 'off' ? 'cpu' : gpu,
    async devices() {
      if (gpu === 'off') return { names: [], memoryBytes: 0, freeBytes: 0 };
      const [names, { total, free }] = await Promise.all([llama.getGpuDeviceNames(), llama.getVramState()]);
      return { names, memoryBytes: total, freeBytes: free };
    },
    /** The first error line since the last call: it names the cause, later lines are consequences. */
    async takeComplaint(): Promise<string | undefined> {
      // Log lines arrive from another thread, shortly after the call has failed.
      await setImmediate();
      return complaints.splice(0)[0];
    },
  };
}

async function requireDevice(llama: Llama, gpu: AcceleratorName): Promise<void> {
  // node-llama-cpp silently replaces a missing backend by another.
  if (llama.gpu !== gpu) {
    await llama.dispose();
    throw await missingBinary(gpu);
  }
  const names = await llama.getGpuDeviceNames();
  if (names.length > 0) return;
  await llama.dispose();
  const hint = `install ${DRIVERS[gpu]}; or compute on the CPU: --gpu off`;
  throw new BenchError('not-found', `${gpu} finds no device`, hint);
}

const PLATFORMS: Readonly<Record<string, string>> = { win32: 'win', darwin: 'mac' };

const DRIVERS: Readonly<Record<AcceleratorName, string>> = {
  cuda: "NVIDIA's driver: nvidia-smi must list the card",
  vulkan: "the Vulkan loader (Debian: libvulkan1) and the card's driver: vulkaninfo must list the card",
  metal: 'macOS 13 or newer on Apple silicon',
};

/** The error if a backend's binary does not start because it, or its driver, is not installed. */
async function missingBinary(gpu: AcceleratorName, cause?: unknown): Promise<BenchError> {
  const { platform, arch } = process;
  const known = supportedAccelerators(platform, arch);
  const binary = `llama.cpp's binary for ${gpu}`;
  if (!known.includes(gpu)) {
    const hint = known.length === 0 ? 'compute on the CPU: --gpu off' : `available here: ${known.join(' and ')}`;
    return new BenchError('not-found', `${binary} does not exist for ${platform}-${arch}`, hint, cause);
  }
  return (await isInstalled(`@node-llama-cpp/${PLATFORMS[platform] ?? platform}-${arch}-${gpu}`))
    ? new BenchError('not-found', `${binary} is installed but does not start`, `install ${DRIVERS[gpu]}`, cause)
    : new BenchError('not-found', `${binary} is not installed`, `install it with: ${installCommand(gpu)}`, cause);
}

/** A clone lacks the GPU packages (`overrides` in package.json); an installed package has them by default. */
function installCommand(gpu: AcceleratorName): string {
  const script = fileURLToPath(new URL('../../../scripts/gpu-packages.mjs', import.meta.url));
  return existsSync(script) ? `npm run gpu:install -- ${gpu}` : 'npm install --include=optional';
}

async function isInstalled(name: string): Promise<boolean> {
  try {
    await import(name);
    return true;
  } catch {
    return false;
  }
}
