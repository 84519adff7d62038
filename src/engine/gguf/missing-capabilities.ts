import type { CapabilityName } from '../engine-capabilities.ts';
import type { GgufHeader } from './gguf-header.ts';

type Limits = 'positionDimensions' | 'slidingWindowTokens';

/** Architectures with KV layout and rotation verified by this project, bit by bit. */
const KV_ARCHITECTURES = ['llama', 'qwen2', 'qwen3'];

/** Decides if arms that inject KV can run on a model. @returns the reason if not, in one line; undefined if they can */
export function kvObstacle(
  header: Pick<GgufHeader, 'architecture' | 'kvHeads' | 'headDimension' | 'valueDimension' | 'ropeScaling' | Limits>,
): string | undefined {
  const { architecture, ropeScaling, positionDimensions, slidingWindowTokens } = header;
  if (!KV_ARCHITECTURES.includes(architecture)) {
    const known = KV_ARCHITECTURES.join(', ');
    return `the KV layout of architecture ${architecture} is not supported (supported: ${known})`;
  }
  if (ropeScaling !== 'none' && ropeScaling !== 'linear') {
    return `keys with ${ropeScaling} RoPE scaling cannot be moved to other positions`;
  }
  if (positionDimensions > 1) return `its tokens have positions in ${positionDimensions} dimensions (M-RoPE)`;
  if (slidingWindowTokens !== undefined) {
    return `its layers see only ${slidingWindowTokens} tokens back (sliding window)`;
  }
  if (header.kvHeads === undefined) return 'its layers differ in their number of KV heads';
  return header.headDimension === header.valueDimension ? undefined : 'its keys and values differ in size';
}

const KV_CAPABILITIES = ['promptCache', 'checkpoints', 'cells', 'sharedPositions', 'shift', 'firstLayers', 'queries'];
const NO_PREFIX_CACHE = 'a session in this process drops the KV of truncated tokens';

/** Capabilities that llama.cpp in this process lacks with a model, and the reason for each. */
export function missingCapabilities(header: GgufHeader): Readonly<Partial<Record<CapabilityName, string>>> {
  const obstacle = kvObstacle(header);
  if (obstacle !== undefined) {
    return { prefixCache: NO_PREFIX_CACHE, ...Object.fromEntries(KV_CAPABILITIES.map((name) => [name, obstacle])) };
  }
  const firstLayers = firstLayersObstacle(header);
  const queries = firstLayers ?? header.queriesObstacle;
  return {
    prefixCache: NO_PREFIX_CACHE,
    ...(firstLayers === undefined ? {} : { firstLayers }),
    ...(queries === undefined ? {} : { queries }),
  };
}

function firstLayersObstacle({ layers, listByLayer, parts }: GgufHeader): string | undefined {
  if (layers < 2) return 'it has one layer, and the keys and values of a first layer do not depend on context';
  if (parts > 1) return `it is split into ${parts} files`;
  return listByLayer === undefined ? undefined : `its header has a number for each layer under ${listByLayer}`;
}
