import type { CallOptions } from './call-options.ts';
import type { CapabilityName } from './engine-capabilities.ts';

/** Options of opening a model's first layers. */
export interface FirstLayersOptions extends CallOptions {
  /**
   * The keys of the last of them are its queries, rotated as its keys are, a head for each query head; in the layers below,
   * the keys and values of each K/V head stand once for each query head that shares it, bit by bit. Default false.
   */
  readonly queries?: boolean | undefined;
}

/** The capability without which an engine cannot open them. */
export function neededFor({ queries = false }: FirstLayersOptions): CapabilityName {
  return queries ? 'queries' : 'firstLayers';
}
