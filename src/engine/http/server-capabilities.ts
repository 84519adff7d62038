import type { EngineCapabilities } from '../engine-capabilities.ts';

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
