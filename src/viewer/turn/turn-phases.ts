import type { AnsweredTurn } from '../stored-turn.ts';

/** A part of a turn's time. */
export interface Phase {
  readonly name: string;
  readonly startMs: number;
  readonly ms: number;
}

/** Shorter phases are not shown, ms. */
const LEAST_SHOWN = 0.005;

/**
 * The phases of a turn, one after the other. K/V that is kept after the answer counts in `kvCompute` and follows `decode`;
 * time that no phase accounts for comes last.
 */
export function turnPhases({ timings }: Pick<AnsweredTurn, 'timings'>): Phase[] {
  const { retrieve, gate, assemble, kvLoad, kvCompute, prefill, firstToken, decode, total } = timings;
  const computed = Math.min(kvCompute, Math.max(0, firstToken - retrieve - gate - assemble - kvLoad - prefill));
  const parts: readonly (readonly [string, number])[] = [
    ['retrieve', retrieve],
    ['gate', gate],
    ['assemble prompt', assemble],
    ['compute K/V', computed],
    ['load K/V', kvLoad],
    ['prefill', prefill],
    ['decode', decode],
    ['keep K/V', kvCompute - computed],
  ];
  const known = parts.reduce((sum, [, ms]) => sum + ms, 0);
  let startMs = 0;
  return [...parts, ['other', total - known] as const].flatMap(([name, ms]) => {
    if (ms < LEAST_SHOWN) return [];
    const phase = { name, startMs, ms };
    startMs += ms;
    return [phase];
  });
}
