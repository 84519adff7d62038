import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { type TextMetric, textMetricOf } from '../metrics/text-metrics.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { perItem } from '../statistics/per-item.ts';
import { where, whereOf } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { turnsOfArm } from '../turns-of-run.ts';
import { chanceOf, scopesInWords } from './chance.ts';
import { type Check, decided, examples, undecided } from './check.ts';
import { pairsOf, turnsWhere } from './pairs-of.ts';

type Memories = NonNullable<Observed['memories']>;

const LEAST_ITEMS = 30;
/** Above chance: what a control may know. */
const TOLERANCE = 0.02;

/** A thing that a control may not do, and the turns in which it did. */
interface Foul {
  readonly what: string;
  readonly is: (own: Memories, other: Memories) => boolean;
}

const CLOSED = turnField('observed', 'closed');
const MEMORIES = turnField('observed', 'memories');

/** Memories that a control was shown and may not be, by id, on any item; null where it was not. */
function foulControls(arms: readonly ArmTraits[], answered: readonly AnsweredResult[]): string | null {
  const baseline = arms.find(({ comparison }) => comparison === 'baseline')?.name;
  const donors = arms.filter(({ control, retrieves }) => control === 'negative' && retrieves === 'donor');
  const fouls: readonly Foul[] = [
    { what: "hold memories of the asker's own", is: ({ own }) => own > 0 },
    { what: 'hold an answer', is: ({ holdsGold }) => holdsGold },
    { what: `hold more memories than ${baseline}`, is: (own, theirs) => own.given > theirs.given },
  ];
  const compared = donors.map(({ name }) => pairsOf(answered, name, baseline ?? name));
  const found = fouls
    .map(({ what, is }) => {
      const isFoul = (own?: Memories, theirs?: Memories): boolean =>
        own !== undefined && theirs !== undefined && is(own, theirs);
      return { what, turns: compared.flatMap((pairs) => turnsWhere(pairs, MEMORIES, isFoul)) };
    })
    .filter(({ turns }) => turns.length > 0);
  return found.length === 0
    ? null
    : found.map(({ what, turns }) => `${turns.length} turns ${what}: ${examples(turns)}`).join('; ');
}

interface ControlResult {
  readonly fails: boolean;
  /** Null where there is no other gold to compare with. */
  readonly text: string | null;
}

function judged(
  arm: string,
  closed: readonly AnsweredResult[],
  answered: readonly AnsweredResult[],
  score: TextMetric,
  seed: number,
): ControlResult {
  const own = ({ item, answer }: AnsweredResult): number | null =>
    item.gold === null ? null : score(answer.text, [item.gold, ...item.acceptedAnswers], item.language);
  const rate = estimateShare(perItem(closed, own))!;
  const { estimate: chance, scopes } = chanceOf(closed, answered, score, seed);
  if (chance === null) return { fails: false, text: null };
  const percent = (share: number): string => (100 * share).toFixed(1);
  const interval = `[${percent(chance.low)}, ${percent(chance.high)}]`;
  return {
    fails: rate.low > chance.mean + TOLERANCE,
    text:
      `${arm} ${percent(rate.mean)} % of ${rate.n} closed items, ` +
      `by chance ${percent(chance.mean)} ${interval} (${scopesInWords(scopes)})`,
  };
}

/**
 * Negative controls: nobody answers a closed item without its memory, neither without any nor with another user's, more often
 * than by chance. Chance is the same arm's answers scored against the golds of other items, so that a metric that takes any
 * answer for right, or golds that are easy to guess, count on both sides. A control fails if the lower bound of its rate is
 * above chance plus two points. On every item, the control of another user's memories holds none of the asker's own, none that
 * answers, and no more than the baseline has.
 */
export const negativeControls: Check = ({ arms, answered, metrics, seed, textsStored, randomWeights }) => {
  const foul = foulControls(arms, answered);
  if (foul !== null) return decided('negative controls', false, foul);
  if (randomWeights) return undecided('negative controls', 'random weights answer nothing');
  if (!textsStored) {
    return undecided('negative controls', 'answers are stored as hashes (--no-text): chance cannot be computed');
  }
  const ran = arms.filter(({ control }) => control === 'negative');
  if (ran.length === 0) return undecided('negative controls', 'no negative control ran');
  const { name: metric, score } = textMetricOf(metrics.primary.name);
  const byArm = ran.map(({ name, retrieves }) => {
    // A control that was shown nothing of another user controls nothing.
    const shown = (turn: AnsweredResult): boolean => retrieves === 'nothing' || turn.facts.keptMemories > 0;
    const closed = where(
      whereOf(turnsOfArm(answered, name), CLOSED, (isClosed) => isClosed),
      (turn) => turn.item.gold !== null && shown(turn),
    );
    return { name, closed, items: new Set(closed.map(({ itemId }) => itemId)).size };
  });
  const few = byArm.find(({ items }) => items < LEAST_ITEMS);
  if (few !== undefined) {
    return undecided('negative controls', `${few.name} has ${few.items} closed items, ${LEAST_ITEMS} needed`);
  }
  const results = byArm.map(({ name, closed }) => judged(name, closed, answered, score, seed));
  const texts = results.flatMap(({ text }) => text ?? []);
  if (texts.length < results.length) {
    return undecided('negative controls', 'all items have one gold: nothing says what chance would give');
  }
  const by = metric === metrics.primary.name ? '' : `, by ${metric}`;
  return decided(
    'negative controls',
    results.every((result) => !result.fails),
    `${texts.join('; ')}${by}`,
  );
};
