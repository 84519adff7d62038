import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { AnsweredResult, ItemRecord } from '../../../store/records/turn-record.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import { textMetric } from '../metrics/text-metrics-by-name.ts';
import type { TextMetric } from '../metrics/text-overlap.ts';
import { estimateShare } from '../statistics/estimate-mean.ts';
import { type Observation, perItem } from '../statistics/observations.ts';
import { type Check, describeFaults, fail, pairWithReference, pass, turnsWhere, undecided } from './check.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { spacedForm } from '../../../data/normalise-text.ts';

type Memories = NonNullable<TurnObservation['memories']>;

/** With so few, only two right answers exceed chance; the check states what it would have seen. */
const MIN_ITEMS = 5;
/** A control may exceed chance by this share. */
const TOLERANCE = 0.02;

/** Describes turns that showed a control memories it must not see; empty if there are none. */
function forbiddenMemories(arms: readonly ArmTraits[], answered: Turns): string {
  const baseline = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  const pairs = arms
    .filter(({ control, retrieves }) => control === 'negative' && retrieves === 'donor')
    .flatMap(({ name }) => pairWithReference(answered, name, baseline ?? name));
  const where = (isAtFault: (own: Memories, other: Memories) => boolean) =>
    turnsWhere(pairs, ({ observed: { memories: own } }, { observed: { memories: other } }) =>
      Boolean(own && other && isAtFault(own, other)),
    );
  return describeFaults({
    "hold memories of the asker's own": where(({ own }) => own > 0),
    'hold an answer': where(({ holdsGold }) => holdsGold),
    [`hold more memories than ${baseline}`]: where((own, other) => own.given > other.given),
  });
}

/**
 * Negative controls: without the right memories, arms answer closed items no more often than by chance, that is, than
 * their answers match golds of other items. Fails if the lower bound of a rate exceeds chance by two points, or if the
 * memories of another user include one of the asker's, contain an answer, or are more than the baseline has.
 */
export const negativeControls: Check = ({ arms, answered, metrics, seed, textsStored, randomWeights }) => {
  const forbidden = forbiddenMemories(arms, answered);
  if (forbidden !== '') return fail(forbidden);
  if (randomWeights) return undecided('random weights answer nothing');
  if (!textsStored) return undecided('answers are stored as hashes (--no-text): chance cannot be computed');
  const controls = arms.filter(({ control }) => control === 'negative');
  if (controls.length === 0) return undecided('no negative control ran');
  const byArm = controls.map(({ name, retrieves }) => {
    // A turn that shows none of another user's memories tests nothing.
    const isShown = ({ facts }: AnsweredResult): boolean => retrieves === 'nothing' || facts.keptMemories > 0;
    // An answer in several points is neither right nor wrong.
    const isWhole = ({ gold, nuggets }: ItemRecord): boolean => gold !== null && nuggets === undefined;
    const isClosed = (turn: AnsweredResult) => turn.observed.closed && isWhole(turn.item) && isShown(turn);
    const closed = turnsOfArm(answered, name).filter(isClosed);
    return { name, closed, items: new Set(closed.map(({ itemId }) => itemId)).size };
  });
  const { name: metric, score } = textMetric(metrics.primary.name, metrics.version);
  const percent = (share: number): string => (100 * share).toFixed(1);
  const results = byArm.flatMap(({ name, closed, items }) => {
    const { estimate: chance, shared, scopes } = chanceRate(answered, closed, score, seed);
    if (chance === null || items < MIN_ITEMS) return [];
    const own = ({ item, answer }: AnsweredResult): number =>
      score(answer.text, [item.gold!, ...item.acceptedAnswers], item.language);
    const scored = perItem(closed, own);
    const rate = estimateShare(scored)!;
    const interval = `[${percent(chance.low)}, ${percent(chance.high)}]`;
    const byChance = `by chance ${percent(chance.mean)} ${interval} (${describeScopes(scopes)})`;
    const text = `${name} ${percent(rate.mean)} % of ${rate.n} closed items, ${byChance}`;
    return [{ fails: rate.low > chance.mean + TOLERANCE, text, excess: leastExcess(chance.mean, shared, scored) }];
  });
  const by = metric === metrics.primary.name ? '' : `, by ${metric}`;
  const evidence = results.map(({ text }) => text).join('; ') + by;
  if (results.some(({ fails }) => fails)) return fail(evidence);
  const few = byArm.find(({ items }) => items < MIN_ITEMS);
  if (few !== undefined) return undecided(`${few.name} has ${few.items} closed items, ${MIN_ITEMS} needed`);
  if (results.length < byArm.length) return undecided('all items have one gold, so chance cannot be computed');
  const excess = Math.max(...results.map((result) => result.excess));
  const detects = `${percent(excess)} points above chance, if answers are independent`;
  return pass(evidence, detects);
};

/**
 * The least excess over chance, as a share, that fails the check if so many items score 1, evenly over users, and the others 0.
 * @param shared the share of other items for which a right answer is right, too
 */
function leastExcess(chance: number, shared: number, items: readonly Observation[]): number {
  const byUser = [...Map.groupBy(items, ({ userId }) => userId).values()];
  const evenly = byUser.flatMap((own) => own.map(({ userId }, place) => ({ userId, place })));
  evenly.sort((a, b) => a.place - b.place);
  for (let right = Math.ceil(chance * items.length); right <= items.length; right++) {
    const scores = evenly.map(({ userId }, index) => ({ userId, value: Number(index < right) }));
    const share = right / items.length;
    if (estimateShare(scores)!.low > chance + shared * share + TOLERANCE) return share - chance;
  }
  return 1 - chance;
}

/** An answer is scored against the golds of at most so many other items. */
const MAX_PARTNERS = 10;

/** What other items must share with an item, by the name of such items, narrowest first; null if the item has none. */
const SCOPES: Readonly<Record<string, (item: ItemRecord) => string | null>> = {
  'behind the same answer prefix': ({ language, answerPrefix: prefix }) =>
    prefix === null ? null : `${language} ${prefix}`,
  'of the same relation': ({ language, relation }) => (relation === null ? null : `${language} ${relation}`),
  'of the same category': ({ language, category }) => `${language} ${category}`,
  'of any other item': ({ language }) => language,
};

type Golds = ReturnType<typeof itemsOfTurns>[number];

function itemsOfTurns(turns: Turns) {
  const firsts = [...Map.groupBy(turns, ({ itemId }) => itemId).values()].map(([first]) => first!);
  return firsts.map(({ itemId, item }) => {
    const texts = item.gold === null ? [] : [item.gold, ...item.acceptedAnswers];
    const forms = texts.map((text) => spacedForm(text, item.language)).filter((form) => form.trim() !== '');
    return { itemId, item, texts, forms };
  });
}

/** Whether neither has a gold that contains one of the other's. */
function areApart(a: Golds, b: Golds): boolean {
  return !a.forms.some((one) => b.forms.some((other) => one.includes(other) || other.includes(one)));
}

/**
 * Draws up to `MAX_PARTNERS` other items, including some with the same gold; none if all items have that gold, since a
 * right answer then shows no knowledge.
 */
function drawPartners(own: Golds, pool: readonly Golds[], random: SeededRandom): readonly Golds[] {
  if (!pool.some((other) => areApart(own, other))) return [];
  const partners: Golds[] = [];
  for (const other of random.inRandomOrder(pool)) {
    if (other.itemId !== own.itemId) partners.push(other);
    if (partners.length === MAX_PARTNERS) break;
  }
  return partners;
}

/**
 * Scores answers against golds of up to ten random items whose answers begin alike ("The number is"), else of the same relation, else
 * category, else language. The estimate is null if no item has another one whose gold differs.
 */
function chanceRate(all: Turns, turns: Turns, score: TextMetric, seed: number) {
  const lenders = itemsOfTurns(all).filter(({ item }) => item.gold !== null);
  const pools = Object.entries(SCOPES).map(([scope, key]) => {
    return { scope, key, items: Map.groupBy(lenders, ({ item }) => key(item)) };
  });
  const scopes = new Map<string, number>();
  const partners = new Map<string, readonly Golds[]>();
  const random = new SeededRandom(seed);
  for (const own of itemsOfTurns(turns)) {
    for (const { scope, key, items } of pools) {
      const shared = key(own.item);
      const others = shared === null ? [] : drawPartners(own, items.get(shared) ?? [], random);
      if (others.length === 0) continue;
      partners.set(own.itemId, others);
      scopes.set(scope, (scopes.get(scope) ?? 0) + 1);
      break;
    }
  }
  const rightFor = (text: string, { itemId, item }: AnsweredResult): number | null => {
    const others = partners.get(itemId);
    if (others === undefined) return null;
    return others.reduce((sum, { texts }) => sum + score(text, texts, item.language), 0) / others.length;
  };
  const estimate = (textOf: (turn: AnsweredResult) => string) =>
    estimateShare(perItem(turns, (turn) => rightFor(textOf(turn), turn)));
  const shared = estimate(({ item }) => item.gold!)?.mean ?? 0;
  return { estimate: estimate(({ answer }) => answer.text), shared, scopes };
}

/** `golds of the same relation`, with the number of items for each scope if there are several. */
function describeScopes(scopes: ReadonlyMap<string, number>): string {
  const used = Object.keys(SCOPES).filter((scope) => scopes.has(scope));
  const parts = used.map((scope) => (used.length > 1 ? `${scope} (${scopes.get(scope)} items)` : scope));
  return `golds ${parts.join(', ')}`;
}
