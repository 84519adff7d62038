import { BenchError } from '../base/bench-error.ts';
import type { KvLayout, Rotary } from './sequence-state.ts';

/** The capabilities that an arm may need. */
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

/** Something that an engine may be able to do, by the name that messages and `doctor` use. */
export type CapabilityName = (typeof capabilityNames)[number];

/** The capabilities of one engine with one model. Adapters probe them at opening, and withdraw a claim that a negative control refutes. */
export interface EngineCapabilities {
  /** Prompts are token ids. Without it they are text, and differing ids are counted. */
  readonly tokenIds: boolean;
  readonly logProbabilities: {
    /** Tokens listed in the next-token distribution. */
    readonly next: 'all' | number;
    /** How a continuation is scored: in one pass, token by token, or evaluated past the prefix cache. */
    readonly continuation: 'pass' | 'steps' | 'recomputed';
  } | null;
  /**
   * The engine's own cache of prefixes, in blocks of tokens: it finds what a session dropped by `truncate`, or, over the whole
   * engine, what any session evaluated under the same `cacheScope`.
   */
  readonly prefixCache: { readonly span: 'session' | 'engine'; readonly blockTokens: number } | null;
  /** `checkpoint` and `restore`. */
  readonly checkpoints: boolean;
  /** `exportCells` and `importCells`. */
  readonly cells: {
    readonly layout: KvLayout;
    readonly rotary: Rotary;
    /** Two cells may have one position. */
    readonly sharedPositions: boolean;
    /** Positions may be left out. */
    readonly gaps: boolean;
  } | null;
  /** `erase` of a range that is not the end. */
  readonly shift: boolean;
  /** `Engine.firstLayers`, at least two of them: the keys and values of the first layer know no context. */
  readonly firstLayers: boolean;
  readonly queries: boolean;
  readonly sessions: number;
  /** Tokens of the shortest call whose arithmetic is that of longer ones. */
  readonly leastTokens: 1 | 2;
  /**
   * A prompt that is cut into calls at multiples of so many tokens gives the bits of one that is not; null where any cut may
   * change them by rounding. Tested when the engine is opened.
   */
  readonly exactCuts: number | null;
  /** Why each missing capability is missing, in one line. */
  readonly missing: Readonly<Partial<Record<CapabilityName, string>>>;
}

/** The last place among so many tokens where a cut changes no bit; their end where any cut may. */
export function lastExactCut({ exactCuts }: Pick<EngineCapabilities, 'exactCuts'>, tokens: number): number {
  const multiple = exactCuts ?? 1;
  return Math.floor(tokens / multiple) * multiple;
}

export function hasCapability(capabilities: EngineCapabilities, name: CapabilityName): boolean {
  const { logProbabilities, cells, checkpoints, prefixCache } = capabilities;
  switch (name) {
    case 'fullDistribution':
      return logProbabilities?.next === 'all';
    case 'sharedPositions':
      return cells?.sharedPositions === true;
    // Earlier prompts are found again, from checkpoints or in the engine's own cache.
    case 'promptCache':
      return checkpoints || prefixCache?.span === 'engine';
    default: {
      const found = capabilities[name];
      return found !== null && found !== false;
    }
  }
}

/** The first of these capabilities that the engine lacks, with the reason; undefined where it has them all. */
export function missingCapability(
  capabilities: EngineCapabilities,
  needed: readonly CapabilityName[],
): { readonly name: CapabilityName; readonly why: string } | undefined {
  const name = needed.find((candidate) => !hasCapability(capabilities, candidate));
  return name === undefined ? undefined : { name, why: missingReason(capabilities, name) };
}

/** @throws BenchError `unsupported`, `NAME: reason`, where the engine lacks a capability */
export function requireCapability(capabilities: EngineCapabilities, name: CapabilityName): void {
  if (!hasCapability(capabilities, name)) throw unsupported(capabilities, name);
}

/** The error for the use of a missing capability. */
export function unsupported(capabilities: EngineCapabilities, name: CapabilityName): BenchError {
  const message = `${name}: ${missingReason(capabilities, name)}`;
  return new BenchError('unsupported', message, 'choose another arm, model or engine');
}

function missingReason({ missing }: EngineCapabilities, name: CapabilityName): string {
  return missing[name] ?? `the engine has no ${name}`;
}
