import { BenchError } from '../base/bench-error.ts';
import type { KvLayout, Rotary } from './sequence-state.ts';

/** Names of capabilities that an arm may need. */
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

/** An ability that an engine may lack, as arms name what they require. */
export type CapabilityName = (typeof capabilityNames)[number];

/** The abilities of one engine with one model, as data. Probed at opening: a claim that a negative control refutes is withdrawn. */
export interface EngineCapabilities {
  /** Prompts are token ids. Without it they are text, and ids that differ are counted. */
  readonly tokenIds: boolean;
  readonly logProbabilities: {
    /** The next-token distribution: all of the vocabulary, or the likeliest n. */
    readonly next: 'all' | number;
    /** The way in which a given continuation is scored: in one pass, token by token, or past the prefix cache. */
    readonly continuation: 'pass' | 'steps' | 'recomputed';
  } | null;
  /**
   * A cache of the engine's own that finds prefixes again, by blocks of so many tokens: what a session dropped by `truncate`
   * alone, or, over all of the engine, what any session evaluated under the same `cacheScope`.
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
  /** `Engine.firstLayers`, two of them at least: the keys and values of the first know no context. */
  readonly firstLayers: boolean;
  /** `Engine.firstLayers` with the queries of the last of them in the place of its keys. */
  readonly queries: boolean;
  /** Sessions that can be open at once. */
  readonly sessions: number;
  /** Tokens of the shortest call whose arithmetic is that of longer ones. */
  readonly leastTokens: 1 | 2;
  /** Bits of a score do not depend on where a prompt is cut into calls of that length; without it they differ by rounding. */
  readonly exactCuts: boolean;
  /** The reason, in one line, for each capability that is missing. */
  readonly missing: Readonly<Partial<Record<CapabilityName, string>>>;
}

/** True where an engine has a capability. */
export function hasCapability(capabilities: EngineCapabilities, name: CapabilityName): boolean {
  switch (name) {
    case 'fullDistribution':
      return capabilities.logProbabilities?.next === 'all';
    case 'sharedPositions':
      return capabilities.cells?.sharedPositions === true;
    // Prompts of before are found again, by whichever way.
    case 'promptCache':
      return capabilities.checkpoints || capabilities.prefixCache?.span === 'engine';
    case 'tokenIds':
    case 'checkpoints':
    case 'shift':
    case 'firstLayers':
    case 'queries':
      return capabilities[name];
    default:
      return capabilities[name] !== null;
  }
}

/** The first of these capabilities that the engine lacks, with the reason; undefined where it has them all. */
export function missingCapability(
  capabilities: EngineCapabilities,
  needed: readonly CapabilityName[],
): { readonly name: CapabilityName; readonly why: string } | undefined {
  const name = needed.find((candidate) => !hasCapability(capabilities, candidate));
  return name === undefined ? undefined : { name, why: reasonOf(capabilities, name) };
}

/** @throws BenchError `unsupported`, `NAME: reason`, where the engine lacks a capability */
export function requireCapability(capabilities: EngineCapabilities, name: CapabilityName): void {
  if (!hasCapability(capabilities, name)) throw unsupported(capabilities, name);
}

/** Error for the use of a capability that an engine lacks. */
export function unsupported(capabilities: EngineCapabilities, name: CapabilityName): BenchError {
  const message = `${name}: ${reasonOf(capabilities, name)}`;
  return new BenchError('unsupported', message, 'choose another arm, model or engine');
}

function reasonOf({ missing }: EngineCapabilities, name: CapabilityName): string {
  return missing[name] ?? `the engine has no ${name}`;
}
