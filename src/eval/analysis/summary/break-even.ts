import { groupBy } from '../../../config/group-by.ts';
import type { ArmTraits } from '../../../records/arm-traits.ts';
import type { BreakEven } from '../../../records/results.ts';
import type { AnsweredResult } from '../../../records/turn-result.ts';
import { bootstrapStatistic } from '../statistics/bootstrap.ts';
import { meanOf, type Observations } from '../statistics/observations.ts';
import { perItem } from '../statistics/per-item.ts';

/**
 * The first turn with one set of memories after which building K/V once and finding it ever after has taken no longer
 * than reading the text every time; infinite where that never comes.
 * @param missMs time to the first token of the turn that builds @param hitMs of one that finds @param ragMs of one that reads
 */
export function breakEvenTurn(missMs: number, hitMs: number, ragMs: number): number {
  if (missMs <= ragMs) return 1;
  return hitMs < ragMs ? Math.ceil((missMs - hitMs) / (ragMs - hitMs)) : Infinity;
}

function firstToken(turns: readonly AnsweredResult[]): Observations {
  return perItem(turns, ({ timings }) => timings.firstToken);
}

/** Break-even of every arm that injects against the baseline, over the turns whose memories it injected. */
export function breakEvens(answered: readonly AnsweredResult[], arms: readonly ArmTraits[], seed: number): BreakEven[] {
  const byArm = groupBy(answered, (turn) => turn.arm);
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  const rag = byArm.get(baseline?.name ?? '') ?? [];
  return arms.flatMap(({ name, injects }) => {
    if (injects === 'nothing') return [];
    const turns = (byArm.get(name) ?? []).filter(({ account }) => account.cache !== 'bypass');
    const items = new Set(turns.map(({ itemId }) => itemId));
    const quantities = [
      firstToken(turns.filter(({ account }) => account.cache === 'miss')),
      firstToken(turns.filter(({ account }) => account.cache === 'hit')),
      firstToken(rag.filter(({ itemId }) => items.has(itemId))),
    ];
    if (quantities.some((observations) => observations.length === 0)) return [];
    const [missMs, hitMs, ragMs] = quantities.map(meanOf) as [number, number, number];
    const of = ([built = 0, found = 0, read = 0]: readonly number[]): number => breakEvenTurn(built, found, read);
    const { low, high } = bootstrapStatistic(quantities, of, seed);
    const orNever = (turn: number): number | null => (Number.isFinite(turn) ? turn : null);
    const turn = orNever(breakEvenTurn(missMs, hitMs, ragMs));
    return [{ arm: name, missMs, hitMs, ragMs, turn, low: orNever(low), high: orNever(high) }];
  });
}
