import type { EvictionName, EvictionRule } from '../store/records/prefill-record.ts';

/** An eviction rule, and the fraction of tokens that it drops: from 0 to less than 1. */
export type Eviction = Readonly<ReturnType<typeof parseEviction>>;

/** Parses an eviction such as `knorm:.5`. */
export function parseEviction(name: EvictionName) {
  const [by, ratio] = name.split(':') as [EvictionRule, string];
  return { by, ratio: Number(ratio) };
}

/** True for a rule that scores tokens by the attention of a question. */
export function seesQuestion({ by }: Pick<Eviction, 'by'>): boolean {
  return by === 'snapkv';
}

/** The name of an eviction; fractions have no leading zero. */
export function evictionName({ by, ratio }: Eviction): EvictionName {
  return `${by}:${String(ratio).replace(/^0\./, '.')}` as EvictionName;
}

/** How many tokens are left, at least one. @see kvpress 0.5.5, `compute_n_kept` */
export function keptTokens(tokens: number, { ratio }: Pick<Eviction, 'ratio'>): number {
  return Math.max(1, Math.floor(tokens * (1 - ratio)));
}
