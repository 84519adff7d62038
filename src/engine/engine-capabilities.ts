import { BenchError } from '../base/bench-error.ts';
import type { KvLayout, Rotary } from './sequence-state.ts';

export const capabilityNames = [
  'tokenIds',
  'logProbabilities',
  'fullDistribution',
  'prefixCache',
  'promptCache',
  'checkpoints',
  'cells',
  'sharedPositions',
  'shift',
  'firstLayers',
  'queries',
] as const;

/** A capability that an arm may need. Messages and `doctor` use the same names. */
export type CapabilityName = (typeof capabilityNames)[number];

/** Capabilities of one engine with one model. Adapters probe them at opening and drop any that a negative control refutes. */
export interface EngineCapabilities {
  /** Prompts are sent as token ids. If false, they are sent as text, and ids that the server tokenises differently are counted. */
  readonly tokenIds: boolean;
  readonly logProbabilities: {
    /** Tokens listed in the next-token distribution. */
    readonly next: 'all' | number;
    /** How a continuation is scored: in one pass, token by token, or by evaluating everything again without the prefix cache. */
    readonly continuation: 'pass' | 'steps' | 'recomputed';
  } | null;
  /**
   * Automatic prefix caching, in blocks of tokens. Span `session`: finds tokens that the session dropped by `truncate`. Span
   * `engine`: finds tokens that any session evaluated under the same `cacheScope`.
   */
  readonly prefixCache: { readonly span: 'session' | 'engine'; readonly blockTokens: number } | null;
  /** Has `checkpoint` and `restore`. */
  readonly checkpoints: boolean;
  /** Has `exportCells` and `importCells`. */
  readonly cells: {
    readonly layout: KvLayout;
    readonly rotary: Rotary;
    /** Two cells may have one position. */
    readonly sharedPositions: boolean;
    /** Positions may be left out. */
    readonly gaps: boolean;
  } | null;
  /** `erase` works in the middle of a sequence too. */
  readonly shift: boolean;
  /** Has `Engine.firstLayers`. False for one-layer models: keys and values of the first layer do not depend on context. */
  readonly firstLayers: boolean;
  readonly queries: boolean;
  readonly sessions: number;
  /** Least tokens per call: 2 if the engine computes single tokens with another kernel, which rounds differently. */
  readonly leastTokens: 1 | 2;
  /**
   * Cutting a prompt into calls at multiples of this number of tokens changes no bit of the results. Null: any cut may change
   * their rounding. Tested when the engine is opened.
   */
  readonly exactCuts: number | null;
  /**
   * A session of at most this many tokens can be truncated anywhere. In a longer one llama.cpp no longer has the KV that the kept
   * tokens need: `truncate` then continues from the last point where the session was asked to generate or score, or evaluates the
   * kept tokens again. The window of sliding-window attention; 0 with recurrent layers; null: no limit.
   */
  readonly truncatesUpTo: number | null;
  /** Sliding window of some or all layers, if it is shorter than a session; else null. */
  readonly slidingWindowTokens: number | null;
  /** The reason for each missing capability, in one line. */
  readonly missing: Readonly<Partial<Record<CapabilityName, string>>>;
}

/**
 * llama.cpp restores only the cells that a sliding window still sees, at the front of its cache. Its sums over cells keep their bits
 * if the cells have moved by a multiple of this number (the widest group of numbers that a kernel adds up together).
 */
const CELL_GROUP = 64;

/** What decides where KV can be cut and restored without changing bits. */
export type CutLimits = Pick<EngineCapabilities, 'exactCuts' | 'slidingWindowTokens'>;

/**
 * The longest prefix of at most `tokens` tokens after which a session can be cut, saved and restored without changing a bit. If no cut
 * is exact: `tokens`, or the longest prefix after which at least restoring is exact.
 */
export function lastExactCut({ exactCuts, slidingWindowTokens: window }: CutLimits, tokens: number): number {
  const multiple = exactCuts ?? 1;
  const beyond = window === null || window % multiple !== 0 ? 0 : Math.max(0, tokens - window);
  const most = window === null ? tokens : Math.min(tokens, window) + beyond - (beyond % CELL_GROUP);
  return Math.floor(most / multiple) * multiple;
}

export function hasCapability(capabilities: EngineCapabilities, name: CapabilityName): boolean {
  const { logProbabilities, cells, checkpoints, prefixCache } = capabilities;
  switch (name) {
    case 'fullDistribution':
      return logProbabilities?.next === 'all';
    case 'sharedPositions':
      return cells?.sharedPositions === true;
    // Earlier prompts can be reused from checkpoints or from the engine's prefix cache.
    case 'promptCache':
      return checkpoints || prefixCache?.span === 'engine';
    default: {
      const found = capabilities[name];
      return found !== null && found !== false;
    }
  }
}

/** @throws BenchError `unsupported`, `NAME: reason`, if the engine lacks the capability */
export function requireCapability(capabilities: EngineCapabilities, name: CapabilityName): void {
  if (!hasCapability(capabilities, name)) throw unsupported(capabilities, name);
}

/** The error for using a missing capability. */
export function unsupported(capabilities: EngineCapabilities, name: CapabilityName): BenchError {
  const why = capabilities.missing[name] ?? `the engine has no ${name}`;
  return new BenchError('unsupported', `${name}: ${why}`, 'choose another arm, model or engine');
}

/** The engine's access to KV cells. @throws BenchError `unsupported`, with the reason, if it has none */
export function requireCells({ capabilities }: { readonly capabilities: EngineCapabilities }) {
  if (capabilities.cells !== null) return capabilities.cells;
  throw unsupported(capabilities, 'cells');
}

/** Capability fields that are the same for all servers. */
export const serverCapabilities = {
  shift: false,
  firstLayers: false,
  queries: false,
  leastTokens: 2,
  exactCuts: null,
  truncatesUpTo: null,
  slidingWindowTokens: null,
} as const satisfies Partial<EngineCapabilities>;
