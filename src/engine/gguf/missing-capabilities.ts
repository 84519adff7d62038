import type { CapabilityName } from '../engine-capabilities.ts';
import type { Window } from '../sequence-state.ts';
import type { ModelHeader } from './model-header.ts';

type Shape = 'architecture' | 'layers' | 'kvHeads' | 'headDimension' | 'valueDimension';
type Positions = 'ropeScaling' | 'positionDimensions' | 'slidingWindowTokens';

/** What decides if the cells of a model can be moved. */
export type CellFacts = Pick<ModelHeader, Shape | Positions | 'isRecurrent' | 'isCompressed'>;

/** Architectures with KV layout and rotation verified by this project, bit by bit. */
const KV_ARCHITECTURES = ['llama', 'qwen2', 'qwen3', 'qwen3moe', 'gemma3'];
/** Those with sliding windows. In a model of fewer layers than this, no layer has full attention. */
const WINDOWED_ARCHITECTURES: Readonly<Record<string, number>> = { gemma3: 6 };

/**
 * Decides if KV cells of a model can be moved and edited.
 * @param contextTokens positions of a session
 * @returns the reason if not, in one line; undefined if they can
 */
export function cellsObstacle(header: CellFacts, contextTokens: number): string | undefined {
  return layoutObstacle(header) ?? windowObstacle(header, contextTokens) ?? rotationObstacle(header);
}

function layoutObstacle(header: CellFacts): string | undefined {
  const { architecture, positionDimensions, slidingWindowTokens } = header;
  if (header.isRecurrent) return 'some of its layers have one state for all tokens (recurrent), not a cell for each';
  if (header.isCompressed) return 'its cells are compressed vectors (MLA)';
  if (positionDimensions > 1) return `its tokens have positions in ${positionDimensions} dimensions (M-RoPE)`;
  if (KV_ARCHITECTURES.includes(architecture)) return undefined;
  const window = slidingWindowTokens === undefined ? '' : `, and ${seesOnly(slidingWindowTokens)}`;
  const known = KV_ARCHITECTURES.join(', ');
  return `the KV layout of architecture ${architecture} is not supported (supported: ${known})${window}`;
}

/** llama.cpp saves all cells only while no session is longer than the window. */
function windowObstacle({ architecture, slidingWindowTokens: window, layers }: CellFacts, contextTokens: number) {
  const least = WINDOWED_ARCHITECTURES[architecture];
  if (least !== undefined && layers < least) return 'all of its layers have a sliding window';
  if (window === undefined || (least !== undefined && contextTokens <= window)) return undefined;
  return `${seesOnly(window)}${least === undefined ? '' : `: run it with --context-tokens ${window} or less`}`;
}

function seesOnly(window: number): string {
  return `its layers see only ${window} tokens back (sliding window)`;
}

function rotationObstacle({ ropeScaling, ...header }: CellFacts): string | undefined {
  if (ropeScaling !== 'none' && ropeScaling !== 'linear') {
    return `keys with ${ropeScaling} RoPE scaling cannot be moved to other positions`;
  }
  if (header.kvHeads === undefined) return 'its layers differ in their number of KV heads';
  return header.headDimension === header.valueDimension ? undefined : 'its keys and values differ in size';
}

const CELL_CAPABILITIES = ['cells', 'sharedPositions', 'shift', 'firstLayers', 'queries'];
const NO_PREFIX_CACHE = 'a session in this process drops the KV of truncated tokens';

/**
 * Capabilities that llama.cpp in this process lacks with a model, and the reason for each. Checkpoints, which are saved and
 * restored whole, work with every layout; the engine tries them at opening where it does not know the cells.
 */
export function missingCapabilities(
  header: ModelHeader,
  { contextTokens }: Pick<Window, 'contextTokens'>,
): Readonly<Partial<Record<CapabilityName, string>>> {
  const obstacle = cellsObstacle(header, contextTokens);
  if (obstacle !== undefined) {
    return { prefixCache: NO_PREFIX_CACHE, ...Object.fromEntries(CELL_CAPABILITIES.map((name) => [name, obstacle])) };
  }
  const firstLayers = firstLayersObstacle(header);
  const queries = firstLayers ?? header.queriesObstacle;
  return {
    prefixCache: NO_PREFIX_CACHE,
    ...(firstLayers === undefined ? {} : { firstLayers }),
    ...(queries === undefined ? {} : { queries }),
  };
}

function firstLayersObstacle({ layers, listByLayer, parts, rotary }: ModelHeader): string | undefined {
  if (rotary.windowed !== undefined) return 'its first layers all have a sliding window';
  if (layers < 2) return 'it has one layer, and the keys and values of a first layer do not depend on context';
  if (parts > 1) return `it is split into ${parts} files`;
  return listByLayer === undefined ? undefined : `its header has a number for each layer under ${listByLayer}`;
}
