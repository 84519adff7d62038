import { SeededRandom } from '../../../base/seeded-random.ts';
import { spacedForm } from '../../../data/normalise.ts';
import type { Estimate } from '../../../store/records/estimate.ts';
import type { AnsweredResult, ItemRecord } from '../../../store/records/turn-record.ts';
import type { Turns } from '../arm-turns.ts';
import type { TextMetric } from '../metrics/text-metrics.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { perItem } from '../statistics/observations.ts';

/** Golds of other items that an answer is tried on, at most. */
const MOST_PARTNERS = 10;

/** The part of an item that it shares with the items whose golds its answer is tried on; null where it names no relation. */
const SCOPES = {
  relation: ({ language, relation }: ItemRecord) => (relation === null ? null : `${language} ${relation}`),
  category: ({ language, category }: ItemRecord) => `${language} ${category}`,
  data: ({ language }: ItemRecord) => language,
};

type Scope = keyof typeof SCOPES;
const scopeNames = Object.keys(SCOPES) as Scope[];

/** How often an arm's answers hold the golds of other items. */
export interface Chance {
  /** Null if no item has another one whose gold differs. */
  readonly estimate: Estimate | null;
  /** Items by the scope of their partners. */
  readonly scopes: Readonly<Record<Scope, number>>;
}

/** An item and the answers that count as right for it. */
interface Golds {
  readonly itemId: string;
  readonly item: ItemRecord;
  readonly texts: readonly string[];
  /** Their normal forms, without empty ones. */
  readonly forms: readonly string[];
}

/** The items of turns, in the order of their first turns. */
function itemsOfTurns(turns: Turns): Golds[] {
  const firsts = [...Map.groupBy(turns, ({ itemId }) => itemId).values()].map(([first]) => first!);
  return firsts.map(({ itemId, item }) => {
    const texts = item.gold === null ? [] : [item.gold, ...item.acceptedAnswers];
    const forms = texts.map((text) => spacedForm(text, item.language)).filter((form) => form.trim() !== '');
    return { itemId, item, texts, forms };
  });
}

/** True if neither of two items has a gold that holds one of the other. */
function areApart(a: Golds, b: Golds): boolean {
  return !a.forms.some((one) => b.forms.some((other) => one.includes(other) || other.includes(one)));
}

/** Golds of other items that hold none of an item's own, in random order, at most as many as it is tried on. */
function drawPartners(own: Golds, pool: readonly Golds[], random: SeededRandom): Golds[] {
  const partners: Golds[] = [];
  for (const other of random.inRandomOrder(pool)) {
    if (other.itemId !== own.itemId && areApart(own, other)) partners.push(other);
    if (partners.length === MOST_PARTNERS) break;
  }
  return partners;
}

/**
 * The chance rate of an arm: each of its answers scored against up to ten golds of other items, drawn by seed: of the same
 * relation and language, if there are none of the same category, else of any item.
 * @param all turns of the run, whose items lend their golds @param turns of one arm
 */
export function chanceRate(all: Turns, turns: Turns, score: TextMetric, seed: number): Chance {
  const lenders = itemsOfTurns(all).filter(({ item }) => item.gold !== null);
  const pools = scopeNames.map((scope) => Map.groupBy(lenders, ({ item }) => SCOPES[scope](item)));
  const scopes: Record<Scope, number> = { relation: 0, category: 0, data: 0 };
  const partners = new Map<string, readonly Golds[]>();
  const random = new SeededRandom(seed);
  for (const own of itemsOfTurns(turns)) {
    for (const [index, scope] of scopeNames.entries()) {
      const key = SCOPES[scope](own.item);
      const others = drawPartners(own, (key === null ? undefined : pools[index]!.get(key)) ?? [], random);
      if (others.length === 0) continue;
      partners.set(own.itemId, others);
      scopes[scope]++;
      break;
    }
  }
  const rate = ({ itemId, item, answer }: AnsweredResult): number | null => {
    const others = partners.get(itemId);
    if (others === undefined) return null;
    return others.reduce((sum, { texts }) => sum + score(answer.text, texts, item.language), 0) / others.length;
  };
  return { estimate: estimateShare(perItem(turns, rate)), scopes };
}

/** `golds of the same relation`, with the number of items for each scope if there are several. */
export function describeScopes(scopes: Chance['scopes']): string {
  const names = { relation: 'of the same relation', category: 'of the same category', data: 'of any other item' };
  const used = scopeNames.filter((scope) => scopes[scope] > 0);
  const parts = used.map((scope) => (used.length > 1 ? `${names[scope]} (${scopes[scope]} items)` : names[scope]));
  return `golds ${parts.join(', ')}`;
}
