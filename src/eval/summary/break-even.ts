import { groupBy } from '../group-by.ts';
import type { BreakEven } from '../results.ts';
import type { ArmTraits } from '../run/arms.ts';
import { bootstrapStatistic } from '../statistics/bootstrap.ts';
import { meanOf, type Observations } from '../statistics/observations.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { perItem } from './per-item.ts';

const BASE = 'rag';

/**
 * The first turn with one set of memories after which building K/V once and finding it ever after has taken no longer
 * than reading the text every time; infinite where that never comes.
 * @param newMs time to the first token of the turn that builds @param seenMs of one that finds @param ragMs of one that reads
 */
export function breakEvenTurn(newMs: number, seenMs: number, ragMs: number): number {
  if (newMs <= ragMs) return 1;
  return seenMs < ragMs ? Math.ceil((newMs - seenMs) / (ragMs - seenMs)) : Infinity;
}

function firstToken(turns: readonly AnsweredTurn[]): Observations {
  return perItem(turns, ({ timings }) => timings.firstToken);
}

/** Break-even of every arm that injects, over the turns whose memories it injected. */
export function breakEvens(answered: readonly AnsweredTurn[], arms: readonly ArmTraits[], seed: number): BreakEven[] {
  const byArm = groupBy(answered, (turn) => turn.arm);
  const rag = byArm.get(BASE) ?? [];
  return arms.flatMap(({ name, injects }) => {
    if (injects === 'nothing') return [];
    const turns = (byArm.get(name) ?? []).filter(({ evidence }) => evidence.reuse !== 'none');
    const items = new Set(turns.map(({ itemId }) => itemId));
    const quantities = [
      firstToken(turns.filter(({ evidence }) => evidence.reuse === 'new')),
      firstToken(turns.filter(({ evidence }) => evidence.reuse === 'seen')),
      firstToken(rag.filter(({ itemId }) => items.has(itemId))),
    ];
    if (quantities.some((observations) => observations.length === 0)) return [];
    const [newMs, seenMs, ragMs] = quantities.map(meanOf) as [number, number, number];
    const of = ([built = 0, found = 0, read = 0]: readonly number[]): number => breakEvenTurn(built, found, read);
    const { low, high } = bootstrapStatistic(quantities, of, seed);
    const orNever = (turn: number): number | null => (Number.isFinite(turn) ? turn : null);
    const turn = orNever(breakEvenTurn(newMs, seenMs, ragMs));
    return [{ arm: name, newMs, seenMs, ragMs, turn, low: orNever(low), high: orNever(high) }];
  });
}
