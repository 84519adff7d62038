import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GpuName } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';

/** An interface to accelerators that llama.cpp has a build for. */
export type AcceleratorName = Exclude<GpuName, 'off' | 'auto'>;

/** Interfaces to accelerators with a prebuilt binary for a platform, the faster first. */
export function acceleratorsOf(platform: string, arch: string): readonly AcceleratorName[] {
  if (platform === 'darwin') return arch === 'arm64' ? ['metal'] : [];
  return (platform === 'linux' || platform === 'win32') && arch === 'x64' ? ['cuda', 'vulkan'] : [];
}

const PLATFORMS: Readonly<Record<string, string>> = { win32: 'win', darwin: 'mac' };

const DRIVERS: Readonly<Record<AcceleratorName, string>> = {
  cuda: "NVIDIA's driver: nvidia-smi must list the card",
  vulkan: "the Vulkan loader (Debian: libvulkan1) and the card's driver: vulkaninfo must list the card",
  metal: 'macOS 13 or newer on Apple silicon',
};

/** The error where no binary of an interface starts: it, or its driver, is not installed. */
export async function missingBinary(gpu: AcceleratorName, cause?: unknown): Promise<BenchError> {
  const { platform, arch } = process;
  const known = acceleratorsOf(platform, arch);
  const binary = `llama.cpp's binary for ${gpu}`;
  if (!known.includes(gpu)) {
    const hint = known.length === 0 ? 'compute on the CPU: --gpu off' : `here there may be ${known.join(' and ')}`;
    return new BenchError('not-found', `${binary}: there is none for ${platform}-${arch}`, hint, cause);
  }
  return (await isInstalled(`@node-llama-cpp/${PLATFORMS[platform] ?? platform}-${arch}-${gpu}`))
    ? new BenchError('not-found', `${binary} is installed and does not start`, `install ${DRIVERS[gpu]}`, cause)
    : new BenchError('not-found', `${binary} is not installed`, `bring it with: ${installCommand(gpu)}`, cause);
}

/** The error where the binary starts and finds no device. */
export function missingDevice(gpu: AcceleratorName): BenchError {
  return new BenchError(
    'not-found',
    `${gpu} finds no device`,
    `install ${DRIVERS[gpu]}; or compute on the CPU: --gpu off`,
  );
}

/** A clone leaves the packages out (`overrides` of package.json); an installed package has them by default. */
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
