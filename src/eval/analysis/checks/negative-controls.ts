import type { AnsweredResult } from '../../../records/turn-result.ts';
import { type TextMetric, textMetricOf } from '../metrics/text-metrics.ts';
import { estimateShare } from '../statistics/estimate.ts';
import { perItem } from '../statistics/per-item.ts';
import { chanceOf, scopesInWords } from './chance.ts';
import { type Check, decided, undecided } from './check.ts';

const LEAST_ITEMS = 30;
/** Above chance: what a control may know. */
const TOLERANCE = 0.02;

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
  const rate = estimateShare(perItem(closed, own), seed)!;
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
 * above chance plus two points.
 */
export const negativeControls: Check = ({ arms, answered, metrics, seed, textsStored, randomWeights }) => {
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
    const closed = answered.filter(
      (turn) => turn.arm === name && turn.observed.closed && turn.item.gold !== null && shown(turn),
    );
    return { name, closed, items: new Set(closed.map(({ itemId }) => itemId)).size };
  });
  const few = byArm.find(({ items }) => items < LEAST_ITEMS);
  if (few !== undefined) {
    const reason = `${few.name} has ${few.items} closed items, fewer than ${LEAST_ITEMS}`;
    return undecided('negative controls', reason);
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
