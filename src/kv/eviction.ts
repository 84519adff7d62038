import type { EvictionName, EvictionRule } from '../store/records/prefill-record.ts';

/** A rule that drops tokens, and the fraction that it drops, from 0 to less than 1. */
export type Eviction = Readonly<ReturnType<typeof parseEviction>>;

/** Parses an eviction: a rule and a fraction, as in `knorm:.5`. */
export function parseEviction(name: EvictionName) {
  const [by, ratio] = name.split(':') as [EvictionRule, string];
  return { by, ratio: Number(ratio) };
}

/** The name of an eviction; a fraction is written without the zero in front. */
export function evictionName({ by, ratio }: Eviction): EvictionName {
  return `${by}:${String(ratio).replace(/^0\./, '.')}` as EvictionName;
}

/** Tokens that are left, one at least. @see kvpress 0.5.5, `compute_n_kept` */
export function keptTokens(tokens: number, { ratio }: Pick<Eviction, 'ratio'>): number {
  return Math.max(1, Math.floor(tokens * (1 - ratio)));
}
