import type { EvictionName, EvictionRule } from '../store/records/prefill-record.ts';

/** Tokens that are dropped: by which rule, and which fraction of them, from 0 to less than 1. */
export interface Eviction {
  readonly by: EvictionRule;
  readonly ratio: number;
}

/** The eviction of a name: a rule and a fraction, as in `knorm:.5`. */
export function evictionNamed(name: EvictionName): Eviction {
  const [by, ratio] = name.split(':') as [EvictionRule, string];
  return { by, ratio: Number(ratio) };
}

/** The name of an eviction; a fraction is written without the zero in front. */
export function nameOfEviction({ by, ratio }: Eviction): EvictionName {
  return `${by}:${String(ratio).replace(/^0\./, '.')}` as EvictionName;
}

/** Tokens that an eviction leaves of so many, one at least. @see kvpress 0.5.5, `compute_n_kept` */
export function keptTokens(tokens: number, { ratio }: Pick<Eviction, 'ratio'>): number {
  return Math.max(1, Math.floor(tokens * (1 - ratio)));
}
