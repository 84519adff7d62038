import type { BenchConfig } from '../../config/bench-config.ts';
import type { Suite } from './suite.ts';

/** The options of a run: those of the suite where the user gave none. */
export function suiteOptions(
  config: BenchConfig,
  { defaults = {}, shippedLimit: limit }: Pick<Suite, 'defaults' | 'shippedLimit'>,
): BenchConfig {
  const preset = limit === undefined || config.given.includes('dataset') ? defaults : { limit, ...defaults };
  const open = Object.entries(preset).filter(([key]) => !config.given.includes(key));
  return { ...config, ...Object.fromEntries(open) };
}
