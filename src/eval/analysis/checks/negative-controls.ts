import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { type Turns, turnsOfArm } from '../arm-turns.ts';
import { textMetric } from '../metrics/text-metrics.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { perItem } from '../statistics/observations.ts';
import { chanceRate, describeScopes } from './chance.ts';
import { type Check, decided, describeFaults, pairWithReference, turnsWhere, undecided } from './check.ts';

type Memories = NonNullable<Observed['memories']>;

const LEAST_ITEMS = 30;
/** What a control may know above chance. */
const TOLERANCE = 0.02;

/** Memories that a control was shown and must not be, by id, on any item; empty if there are none. */
function forbiddenMemories(arms: readonly ArmTraits[], answered: Turns): string {
  const baseline = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  const pairs = arms
    .filter(({ control, retrieves }) => control === 'negative' && retrieves === 'donor')
    .flatMap(({ name }) => pairWithReference(answered, name, baseline ?? name));
  const fault = (what: string, isAtFault: (own: Memories, other: Memories) => boolean) => ({
    what,
    turns: turnsWhere(pairs, ({ observed: { memories: own } }, { observed: { memories: other } }) =>
      Boolean(own && other && isAtFault(own, other)),
    ),
  });
  return describeFaults([
    fault("hold memories of the asker's own", ({ own }) => own > 0),
    fault('hold an answer', ({ holdsGold }) => holdsGold),
    fault(`hold more memories than ${baseline}`, (own, other) => own.given > other.given),
  ]);
}

/**
 * Negative controls: no arm answers a closed item without its memory, neither without any memory nor with another user's, more
 * often than by chance. Chance is the same arm's answers scored against the golds of other items, so that a lenient metric or
 * golds that are easy to guess count on both sides. A control fails if the lower bound of its rate exceeds chance by two
 * points. On every item, the control with another user's memories holds none of the asker's own, none that answers, and no
 * more than the baseline.
 */
export const negativeControls: Check = ({ arms, answered, metrics, seed, textsStored, randomWeights }) => {
  const forbidden = forbiddenMemories(arms, answered);
  if (forbidden !== '') return decided('negative controls', false, forbidden);
  if (randomWeights) return undecided('negative controls', 'random weights answer nothing');
  if (!textsStored) {
    return undecided('negative controls', 'answers are stored as hashes (--no-text): chance cannot be computed');
  }
  const controls = arms.filter(({ control }) => control === 'negative');
  if (controls.length === 0) return undecided('negative controls', 'no negative control ran');
  const byArm = controls.map(({ name, retrieves }) => {
    // A control that was shown nothing of another user controls nothing.
    const isShown = ({ facts }: AnsweredResult): boolean => retrieves === 'nothing' || facts.keptMemories > 0;
    const isClosed = (turn: AnsweredResult): boolean =>
      turn.observed.closed && turn.item.gold !== null && isShown(turn);
    const closed = turnsOfArm(answered, name).filter(isClosed);
    return { name, closed, items: new Set(closed.map(({ itemId }) => itemId)).size };
  });
  const few = byArm.find(({ items }) => items < LEAST_ITEMS);
  if (few !== undefined) {
    return undecided('negative controls', `${few.name} has ${few.items} closed items, ${LEAST_ITEMS} needed`);
  }
  const { name: metric, score } = textMetric(metrics.primary.name);
  const percent = (share: number): string => (100 * share).toFixed(1);
  const results = byArm.flatMap(({ name, closed }) => {
    const { estimate: chance, scopes } = chanceRate(answered, closed, score, seed);
    if (chance === null) return [];
    const own = ({ item, answer }: AnsweredResult): number =>
      score(answer.text, [item.gold!, ...item.acceptedAnswers], item.language);
    const rate = estimateShare(perItem(closed, own))!;
    const interval = `[${percent(chance.low)}, ${percent(chance.high)}]`;
    const byChance = `by chance ${percent(chance.mean)} ${interval} (${describeScopes(scopes)})`;
    const text = `${name} ${percent(rate.mean)} % of ${rate.n} closed items, ${byChance}`;
    return [{ fails: rate.low > chance.mean + TOLERANCE, text }];
  });
  if (results.length < byArm.length) {
    return undecided('negative controls', 'all items have one gold: nothing says what chance would give');
  }
  const by = metric === metrics.primary.name ? '' : `, by ${metric}`;
  const evidence = results.map(({ text }) => text).join('; ') + by;
  return decided('negative controls', !results.some(({ fails }) => fails), evidence);
};
