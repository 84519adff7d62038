import type { EngineCapabilities } from '../engine-capabilities.ts';

/** Capabilities that no server has. */
export const serverCapabilities = {
  shift: false,
  firstLayers: false,
  queries: false,
  leastTokens: 2,
  exactCuts: null,
} as const satisfies Partial<EngineCapabilities>;
