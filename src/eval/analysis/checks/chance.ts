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

/** What an item has in common with the items whose golds it is tried on; null where it names no relation. */
const SCOPES = {
  relation: ({ language, relation }: ItemRecord) => (relation === null ? null : `${language} ${relation}`),
  category: ({ language, category }: ItemRecord) => `${language} ${category}`,
  data: ({ language }: ItemRecord) => language,
};

type Scope = keyof typeof SCOPES;

/** How often an arm's answers hold the golds of other items. */
export interface Chance {
  /** Null if no item has another one whose gold differs. */
  readonly estimate: Estimate | null;
  /** Items by the scope of their partners. */
  readonly scopes: Readonly<Record<Scope, number>>;
}

/** The answers that count as right for an item. */
interface Golds {
  readonly itemId: string;
  readonly texts: readonly string[];
  /** Their normal forms, without empty ones. */
  readonly forms: readonly string[];
}

function goldsOfItem(itemId: string, { gold, acceptedAnswers, language }: ItemRecord): Golds {
  const texts = gold === null ? [] : [gold, ...acceptedAnswers];
  return { itemId, texts, forms: texts.map((text) => spacedForm(text, language)).filter((form) => form.trim() !== '') };
}

/** The items of turns by id, in the order of their first turns. */
function itemsOfTurns(turns: Turns): Map<string, ItemRecord> {
  const items = new Map<string, ItemRecord>();
  for (const { itemId, item } of turns) if (!items.has(itemId)) items.set(itemId, item);
  return items;
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

/** Scores answers against golds of other items, drawn from all turns of a run. */
export class ChanceScorer {
  readonly #golds: ReadonlyMap<string, Golds>;
  readonly #pools: readonly { readonly scope: Scope; readonly byKey: ReadonlyMap<string | null, readonly Golds[]> }[];

  /** @param all turns whose items lend their golds */
  constructor(all: Turns) {
    const items = [...itemsOfTurns(all)]
      .filter(([, item]) => item.gold !== null)
      .map(([itemId, item]) => ({ item, golds: goldsOfItem(itemId, item) }));
    this.#golds = new Map(items.map(({ golds }) => [golds.itemId, golds]));
    this.#pools = (Object.keys(SCOPES) as Scope[]).map((scope) => {
      const groups = Map.groupBy(items, ({ item }) => SCOPES[scope](item));
      return { scope, byKey: new Map([...groups].map(([key, some]) => [key, some.map(({ golds }) => golds)])) };
    });
  }

  /**
   * The chance rate of an arm: each of its answers scored against up to ten golds of other items, drawn by seed: of the same
   * relation and language, if there are none of the same category, else of any item.
   * @param turns of one arm
   */
  rate(turns: Turns, score: TextMetric, seed: number): Chance {
    const scopes: Record<Scope, number> = { relation: 0, category: 0, data: 0 };
    const partners = new Map<string, readonly Golds[]>();
    const random = new SeededRandom(seed);
    for (const [itemId, item] of itemsOfTurns(turns)) {
      const own = this.#golds.get(itemId) ?? goldsOfItem(itemId, item);
      for (const { scope, byKey } of this.#pools) {
        const key = SCOPES[scope](item);
        const others = drawPartners(own, (key === null ? undefined : byKey.get(key)) ?? [], random);
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
}

/** `golds of the same relation`, with the number of items for each scope if there are several. */
export function describeScopes(scopes: Chance['scopes']): string {
  const names = { relation: 'of the same relation', category: 'of the same category', data: 'of any other item' };
  const used = (Object.keys(names) as Scope[]).filter((scope) => scopes[scope] > 0);
  const parts = used.map((scope) => (used.length > 1 ? `${names[scope]} (${scopes[scope]} items)` : names[scope]));
  return `golds ${parts.join(', ')}`;
}
