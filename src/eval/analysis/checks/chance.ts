import { SeededRandom } from '../../../base/seeded-random.ts';
import { onceFor } from '../../../base/once-for.ts';
import { spacedForm } from '../../../data/normalise.ts';
import type { Estimate } from '../../../store/records/results.ts';
import type { ItemRecord } from '../../../store/records/turn-record.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { TextMetric } from '../metrics/text-metrics.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { readerOf } from '../statistics/column.ts';
import { perItem } from '../statistics/per-item.ts';
import { turnField } from '../turn-field.ts';

/** Golds of other items that an answer is tried on, at most. */
const MOST_PARTNERS = 10;

const SCOPES = ['relation', 'category', 'data'] as const;
type Scope = (typeof SCOPES)[number];

/** How often an arm's answers hold the golds of other items. */
export interface Chance {
  /** Null where no item has another whose gold differs. */
  readonly estimate: Estimate | null;
  /** Items by what their partners have in common with them. */
  readonly scopes: Readonly<Record<Scope, number>>;
}

/** The answers that an item takes for right. */
interface Golds {
  readonly itemId: string;
  readonly texts: readonly string[];
  /** Their spaced forms, empty ones left out. */
  readonly forms: readonly string[];
}

function goldsOf(itemId: string, { gold, acceptedAnswers, language }: ItemRecord): Golds {
  const texts = gold === null ? [] : [gold, ...acceptedAnswers];
  return { itemId, texts, forms: texts.map((text) => spacedForm(text, language)).filter((form) => form.trim() !== '') };
}

/** A key of the items that an item can change golds with; null where it does not say what it asks for. */
const keyOf: Readonly<Record<Scope, (item: ItemRecord) => string | null>> = {
  relation: ({ language, relation }) => (relation === null ? null : `${language} ${relation}`),
  category: ({ language, category }) => `${language} ${category}`,
  data: ({ language }) => language,
};

/** An item, and what it lends to others. */
interface Lender {
  readonly item: ItemRecord;
  readonly golds: Golds;
}

const ITEM_ID = turnField(null, 'itemId');
const ITEM = turnField(null, 'item');

/** The items of some turns, each once. */
function itemsOf(turns: readonly AnsweredResult[]): ReadonlyMap<string, ItemRecord> {
  const items = new Map<string, ItemRecord>();
  const [itemId, item] = [readerOf(turns, ITEM_ID), readerOf(turns, ITEM)];
  for (let place = 0; place < turns.length; place++) {
    if (!items.has(itemId(place))) items.set(itemId(place), item(place));
  }
  return items;
}

/** The items of the turns that have a gold, and their golds by scope; controls of one run are tried on the same. */
const lendersOf = onceFor((turns: readonly AnsweredResult[]) => {
  const lenders = new Map(
    [...itemsOf(turns)]
      .filter(([, item]) => item.gold !== null)
      .map(([itemId, item]) => [itemId, { item, golds: goldsOf(itemId, item) }]),
  );
  return { lenders, pools: SCOPES.map((scope) => ({ scope, byKey: poolsOf([...lenders.values()], scope) })) };
});

/** The golds of items, by the key of a scope. */
function poolsOf(lenders: readonly Lender[], scope: Scope): ReadonlyMap<string, readonly Golds[]> {
  const keyed = lenders.flatMap(({ item, golds }) => {
    const key = keyOf[scope](item);
    return key === null ? [] : [{ key, golds }];
  });
  return new Map(
    [...Map.groupBy(keyed, ({ key }) => key)].map(([key, group]) => [key, group.map(({ golds }) => golds)]),
  );
}

/** Neither of two items has a gold that holds one of the other. */
function areApart(a: Golds, b: Golds): boolean {
  return !a.forms.some((one) => b.forms.some((other) => one.includes(other) || other.includes(one)));
}

/** Golds of other items that hold none of an item's own, as many as it is tried on or as there are. */
function partnersOf(own: Golds, pool: readonly Golds[], random: SeededRandom): Golds[] {
  const partners: Golds[] = [];
  for (const other of random.inRandomOrder(pool)) {
    if (other.itemId !== own.itemId && areApart(own, other)) partners.push(other);
    if (partners.length === MOST_PARTNERS) break;
  }
  return partners;
}

/**
 * The chance rate of an arm: each of its answers scored against golds of other items of the same relation and language, of
 * the same category where there are none, else of any other; ten of them, drawn by seed. A rate of answers over users.
 * @param turns of one arm, to be scored @param all turns whose items lend their golds
 */
export function chanceOf(
  turns: readonly AnsweredResult[],
  all: readonly AnsweredResult[],
  score: TextMetric,
  seed: number,
): Chance {
  const { lenders, pools } = lendersOf(all);
  const scopes: Record<Scope, number> = { relation: 0, category: 0, data: 0 };
  const partners = new Map<string, readonly Golds[]>();
  const random = new SeededRandom(seed);
  for (const [itemId, item] of itemsOf(turns)) {
    const own = lenders.get(itemId)?.golds ?? goldsOf(itemId, item);
    for (const { scope, byKey } of pools) {
      const others = partnersOf(own, byKey.get(keyOf[scope](item) ?? '') ?? [], random);
      if (others.length === 0) continue;
      partners.set(itemId, others);
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

/** `golds of the same relation`, and how many items had to take others. */
export function scopesInWords({ relation, category, data }: Chance['scopes']): string {
  const parts = [
    ...(relation > 0 ? [`of the same relation${category + data > 0 ? ` (${relation} items)` : ''}`] : []),
    ...(category > 0 ? [`of the same category${relation + data > 0 ? ` (${category} items)` : ''}`] : []),
    ...(data > 0 ? [`of any other item${relation + category > 0 ? ` (${data} items)` : ''}`] : []),
  ];
  return `golds ${parts.join(', ')}`;
}
