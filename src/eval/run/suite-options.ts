import type { BenchConfig } from '../../config/bench-config.ts';
import type { Suite } from './suite.ts';

/** The options of a run: those of the suite where the user gave none. */
export function suiteOptions(
  config: BenchConfig,
  { defaults = {}, shipped = {} }: Pick<Suite, 'defaults' | 'shipped'>,
): BenchConfig {
  const isGiven = (option: string): boolean => config.given.includes(option);
  // A number of users goes with the number of questions that are divided among them.
  const part = isGiven('dataset') || isGiven('limit') ? {} : shipped;
  const open = Object.entries({ ...part, ...defaults }).filter(([key]) => !isGiven(key));
  return { ...config, ...Object.fromEntries(open) };
}
