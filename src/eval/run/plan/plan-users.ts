import { BenchError } from '../../../base/bench-error.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import type { BenchConfig } from '../../../config/bench-config.ts';
import type { RunDatasets } from '../../../data/join-datasets.ts';
import { type Dataset, type DatasetItem, type DatasetUser, evidenceIsKnown } from '../../../data/dataset.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { PlannedUser } from '../../../store/records/run-record.ts';
import { answersControlItems } from '../../analysis/planned-sample.ts';
import { MIN_USERS } from '../../analysis/statistics/verdict.ts';

/** Items that controls answer, at least; all if there are fewer. */
const FEWEST = 60;
const SHARE = 0.25;

/** Ids of the items that twins and controls with another user's memories answer; undefined for all. */
export type ControlItems = ReadonlySet<string> | undefined;

/**
 * Draws 60 items or a quarter, whichever is more, by seed and evenly over categories. Undefined if these are all, if no arm
 * is limited to them, or if conversations span items: a control that skips an item would continue another conversation.
 */
export function drawControlItems(
  users: readonly Pick<DatasetUser, 'items'>[],
  arms: readonly ArmTraits[],
  seed: number,
): ControlItems {
  const items = users.flatMap((user) => user.items);
  const count = Math.max(FEWEST, Math.ceil(SHARE * items.length));
  const isWhole = count >= items.length || items.some(({ conversation }) => conversation !== undefined);
  if (isWhole || !arms.some(answersControlItems)) return undefined;
  const shuffled = new SeededRandom(seed).shuffled(items);
  const categories = [...Map.groupBy(shuffled, ({ category }) => category).values()];
  const ranked = categories.flatMap((own) => own.map((item, rank) => ({ item, rank })));
  // Stable: of equal ranks, categories are taken in the order of the shuffle.
  const even = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, count);
  return new Set(even.map(({ item }) => item.itemId));
}

export interface DrawnDataset {
  readonly part: Dataset;
  readonly users: readonly DatasetUser[];
}

export interface PlanUser extends PlannedUser {
  readonly user: DatasetUser;
  /** Items of all earlier users, per repeat, that controls answer and that they skip: the rotation of arms continues there. */
  readonly itemsBefore: { readonly answered: number; readonly skipped: number };
}

/** True if an arm answers an item: the evidence must be known if it is given, and controls answer only their sample. */
export function takesItem(
  arm: Pick<ArmTraits, 'retrieves' | 'control'>,
  item: DatasetItem,
  controls: ControlItems,
): boolean {
  if (!isControlItem(item, controls) && answersControlItems(arm)) return false;
  return arm.retrieves !== 'evidence' || evidenceIsKnown(item);
}

function isControlItem({ itemId }: DatasetItem, controls: ControlItems): boolean {
  return controls === undefined || controls.has(itemId);
}

interface TurnPlan {
  readonly repeats: number;
  readonly controls: ControlItems;
}

export function planUsers(
  users: readonly DatasetUser[],
  arms: readonly ArmTraits[],
  { repeats, controls }: TurnPlan,
): PlanUser[] {
  let itemsBefore = { answered: 0, skipped: 0 };
  return users.map((user, position) => {
    const takes = user.items.flatMap((item) => arms.filter((arm) => takesItem(arm, item, controls)));
    const planned = { userId: user.userId, position, turns: repeats * takes.length, user, itemsBefore };
    const answered = user.items.filter((item) => isControlItem(item, controls)).length;
    const skipped = user.items.length - answered;
    itemsBefore = { answered: itemsBefore.answered + answered, skipped: itemsBefore.skipped + skipped };
    return planned;
  });
}

/**
 * The place of an item's turns in the rotation of arms. Items that controls answer and items that they skip rotate apart, so
 * that each arm stands equally often in each place of either.
 */
export function rotationPlace(
  { user: { items }, itemsBefore }: PlanUser,
  item: DatasetItem,
  repeat: number,
  { repeats, controls }: TurnPlan,
): number {
  const isAnswered = isControlItem(item, controls);
  const alike = items.filter((other) => isControlItem(other, controls) === isAnswered);
  const before = isAnswered ? itemsBefore.answered : itemsBefore.skipped;
  return before * repeats + repeat * alike.length + alike.indexOf(item);
}

type DrawSettings = Pick<BenchConfig, 'limit' | 'users' | 'seed'>;

/**
 * Draws users by seed: as many as `--users`, else enough for `--limit` but at least ten if each then has two questions, else all.
 * With `--limit`, each has its first ⌈limit ÷ users⌉ items. Data sets take turns. @throws BenchError if fewer than `--users` have questions
 */
export function drawUsers({ parts }: Pick<RunDatasets, 'parts'>, settings: DrawSettings): DatasetUser[] {
  const withItems = parts.map((dataset) => dataset.users.filter((user) => user.items.length > 0));
  const users = withItems.flat();
  const { limit, seed } = settings;
  const count = userCount(users, settings);
  const isSmall = settings.users === undefined && count < MIN_USERS;
  const orders = withItems.map((own) => alternatingKinds(new SeededRandom(seed).shuffled(own), isSmall));
  const drawn = new Set(inTurn(orders).slice(0, count));
  const items = limit === undefined ? undefined : Math.ceil(limit / count);
  return users.filter((user) => drawn.has(user)).map((user) => ({ ...user, items: user.items.slice(0, items) }));
}

function userCount(users: readonly DatasetUser[], { limit, users: wanted }: DrawSettings): number {
  if (wanted !== undefined) {
    if (wanted <= users.length) return wanted;
    const message = `--users ${wanted}: ${users.length} users have questions`;
    throw new BenchError('bad-option', message, `give a number from 1 to ${users.length}`);
  }
  if (limit === undefined) return users.length;
  const itemsPerUser = users.reduce((sum, user) => sum + user.items.length, 0) / users.length;
  // KV of a first question is found again only by a second one of the same user.
  const most = itemsPerUser < 2 ? limit : Math.max(1, Math.floor(limit / 2));
  return Math.min(users.length, most, Math.max(MIN_USERS, Math.ceil(limit / itemsPerUser)));
}

/** Users of each kind in turn, so that a small draw holds every kind. @param isSmall the kind with fewest memories first, whose retrieved sets repeat */
function alternatingKinds(users: readonly DatasetUser[], isSmall: boolean): DatasetUser[] {
  const kinds = Map.groupBy(users, (user) => user.kind ?? '');
  const byName = [...kinds.keys()].sort().map((kind) => kinds.get(kind)!);
  const fewest = (own: readonly DatasetUser[]) => Math.min(...own.map(({ memories }) => memories.length));
  return inTurn(isSmall ? byName.sort((a, b) => fewest(a) - fewest(b)) : byName);
}

function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

export function drawnDatasets({ parts }: Pick<RunDatasets, 'parts'>, users: readonly DatasetUser[]): DrawnDataset[] {
  const drawn = new Map(users.map((user) => [user.userId, user]));
  return parts.map((part) => ({ part, users: part.users.flatMap(({ userId }) => drawn.get(userId) ?? []) }));
}

/** Refuses to divide a run whose parts could not be merged. @throws BenchError `bad-option` */
export function requireDivisible(
  { judge, kvStore }: BenchConfig,
  suite: { readonly name: string; readonly measure?: unknown; readonly timesAreResults?: true },
  by: string,
): void {
  const refused = (what: string, hint: string) => new BenchError('bad-option', `${by}: ${what}`, hint);
  if (suite.measure !== undefined || suite.timesAreResults === true) {
    throw refused(`suite ${suite.name} measures more than turns of single users`, 'run it whole, on one machine');
  }
  if (judge !== undefined) throw refused('verdicts of a judge are not merged', 'drop --judge');
  if (kvStore !== undefined) {
    throw refused('what a turn finds in --kv-store depends on how users are divided', 'drop --kv-store');
  }
}
