import { html } from 'hono/html';
import { BenchError, unknownNameError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import {
  type ItemPair,
  type ItemSide,
  type ArmOfRun,
  ArmComparisonRepository,
  type ItemPairScores,
} from '../../store/arm-comparison-repository.ts';
import { differentSubjects } from '../../eval/analysis/compare/setup-differences.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { listText } from '../../render/cut-text.ts';
import type { Html } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { formatNumber } from '../../render/format-number.ts';
import { findRunByName } from '../../eval/analysis/results-from-stored-turns.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { type HiddenTexts, hiddenInReports, hiddenNote, pairWithoutTexts } from '../hidden-texts.ts';
import type { ArmRef, Links, ComparisonQuery } from '../links.ts';
import {
  answerText,
  filterForm,
  type ListColumn,
  listTable,
  numberedLinks,
  options,
  pageOf,
  pager,
  select,
  goldText,
} from '../list-components.ts';
import { armsOfRun } from '../matrix/turn-filters.ts';
import { chosenArms } from './default-arm-pair.ts';
import { mean, type Pair } from '../../eval/analysis/statistics/observations.ts';
import { shareGain, tally } from '../../eval/analysis/statistics/paired-quality.ts';

function scoredPairs(pairs: readonly ItemPairScores[]): Pair[] {
  return pairs.flatMap(({ userId, successA: a, successB: b }) => (a === null || b === null ? [] : { userId, a, b }));
}

/** Mean task success of A minus B; null without scores. The interval is null if all answers and gold probabilities are equal. */
function successDifference(pairs: readonly ItemPairScores[]) {
  const scored = scoredPairs(pairs);
  if (scored.length === 0) return null;
  const { n, users } = tally(scored, 'higher');
  const { delta, low, high } = shareGain(scored);
  const isSame = pairs.every(({ single, sameAnswer, sameGold }) => single + sameAnswer + sameGold === 3);
  return {
    meanA: mean(scored.map(({ a }) => a)),
    meanB: mean(scored.map(({ b }) => b)),
    delta,
    interval: isSame ? null : { low, high },
    n,
    users,
  };
}

/**
 * Pairs the items of two arms, and counts them by outcome; reworded: equal scores, different answers. `listed` starts with different
 * scores, then different answers, then equal ones, each in the order of the first run.
 * @param judged false if scores are hidden: `difference` is null then, and scores do not affect the order
 */
export function pairItems(database: BenchDatabase, a: ArmOfRun, b: ArmOfRun, judged: boolean) {
  const repository = new ArmComparisonRepository(database);
  const pairs = repository.scores(a, b);
  const rank = ({ successA, successB, sameAnswer }: ItemPairScores): number =>
    judged && successA !== successB ? 0 : sameAnswer === 1 ? 2 : 1;
  const { wins, losses } = tally(scoredPairs(pairs), 'higher');
  return {
    counts: {
      items: pairs.length,
      wins,
      losses,
      reworded: pairs.filter(({ successA, successB, sameAnswer }) => successA === successB && sameAnswer === 0).length,
      onlyA: repository.countItems(a) - pairs.length,
      onlyB: repository.countItems(b) - pairs.length,
    },
    difference: judged ? successDifference(pairs) : null,
    listed: pairs.toSorted((one, other) => rank(one) - rank(other)),
  };
}

const pageSize = 50;

/** The arms of a run with turns. @throws BenchError `not-found` if `wanted` is not one of them */
function findArms(database: BenchDatabase, run: RunRecord, wanted: string | undefined): string[] {
  const arms = armsOfRun(database, run);
  if (wanted === undefined || arms.includes(wanted)) return arms;
  throw unknownNameError(`run "${run.name}" has no arm`, wanted, arms);
}

/** Runs that differ in data or models are compared only with `force`. */
export class UnlikeRuns extends BenchError {
  readonly query: ComparisonQuery;

  constructor(query: ComparisonQuery, message: string) {
    super('bad-option', message, 'compare runs of the same data and models');
    this.query = query;
  }
}

/**
 * Reads a page of the comparison.
 * @throws UnlikeRuns; BenchError `not-found` for an unknown run or arm; `bad-option` for an arm against itself, and without common
 * items
 */
export function readComparison(database: BenchDatabase, query: ComparisonQuery, hidden: HiddenTexts = hiddenInReports) {
  const [a, b] = [findRunByName(database, query.a), findRunByName(database, query.b)];
  const forced = differentSubjects(a, b);
  const [difference] = forced;
  if (difference !== undefined && query.force !== true) {
    const { what } = difference;
    const message = `runs "${a.name}" and "${b.name}" differ in ${what}: ${difference.a} and ${difference.b}`;
    throw new UnlikeRuns(query, message);
  }
  const arms = [findArms(database, a, query.armA), findArms(database, b, query.armB)] as const;
  const [armA, armB] = chosenArms(query, a.plan.arms, arms);
  if (a.id === b.id && armA === armB) {
    throw new BenchError('bad-option', `arm "${armA}" of run "${a.name}" is named twice`, 'name two arms, or two runs');
  }
  const quality = unknownQuality(a.model) ?? unknownQuality(b.model);
  const judged = quality === null;
  const paired = pairItems(database, { runId: a.id, arm: armA }, { runId: b.id, arm: armB }, judged);
  const { counts, listed } = paired;
  if (counts.items === 0) {
    const message = `${armA} of "${a.name}" and ${armB} of "${b.name}" have no item in common`;
    throw new BenchError('bad-option', message, 'make both runs with the same --limit and --seed');
  }
  const { page, pages, shown } = pageOf(listed, pageSize, query.page);
  const hiddenTexts = hidden(a) ?? hidden(b);
  const pairs = new ArmComparisonRepository(database).details(shown);
  return {
    a: { run: a.name, arm: armA, arms: arms[0] },
    b: { run: b.name, arm: armB, arms: arms[1] },
    unknownQuality: quality,
    forced,
    counts,
    difference: paired.difference,
    pairs: hiddenTexts === null ? pairs : pairs.map(pairWithoutTexts),
    hiddenTexts,
    page,
    pages,
  };
}

/** Two arms compared item by item; `forced` has the differences in data and models that `force` allowed. */
export type ComparisonPage = ReturnType<typeof readComparison>;

function outcome({ a, b }: ItemPair, judged: boolean): Html {
  if (judged && a.success !== null && b.success !== null && a.success !== b.success) {
    return a.success > b.success ? html`<b class="good">+ won</b>` : html`<b class="bad">− lost</b>`;
  }
  return a.answer === b.answer ? html`<span class="soft">same</span>` : html`reworded`;
}

function answer(href: string, { answer: text, error, success, repeats }: ItemSide, judged: boolean): Html {
  const scored = judged && success !== null;
  const share = repeats > 1 && scored ? ` (right in ${formatNumber(success * 100, 0)} % of ${repeats})` : '';
  const mark = !scored ? '' : success === 1 ? html`<b class="good">✓</b> ` : html`<b class="bad">✗</b> `;
  return html`${mark}<a href="${href}">${answerText(text, error)}</a>${share}`;
}

function columns({ a, b, unknownQuality }: ComparisonPage, links: Links): ListColumn<ItemPair>[] {
  const judged = unknownQuality === null;
  const isSameTurn = (pair: ItemPair): boolean => pair.a.repeat === pair.b.repeat && pair.a.turn === pair.b.turn;
  const ref = ({ run, arm }: ArmRef, item: string, { repeat, turn }: ItemSide) => ({ run, item, arm, repeat, turn });
  const item = ({ itemId }: ItemPair): Html =>
    html`<a data-open href="${links.item(a.run, itemId)}">${printable(itemId)}</a>`;
  const side = (name: 'a' | 'b'): ListColumn<ItemPair> => {
    const [own, other] = name === 'a' ? [a, b] : [b, a];
    return {
      heading: `${name.toUpperCase()}: ${printable(own.arm)}`,
      look: 'cut',
      cell: (pair) => {
        const against = own.run === other.run && isSameTurn(pair) ? other.arm : undefined;
        return answer(links.turn(ref(own, pair.itemId, pair[name]), against), pair[name], judged);
      },
    };
  };
  return [
    { heading: 'item', cell: item },
    { heading: 'A against B', cell: (pair) => outcome(pair, judged) },
    { heading: 'question', look: 'cut', cell: ({ question }) => (question === null ? '' : listText(question)) },
    { heading: 'gold', look: 'cut', cell: ({ gold, question }) => goldText(gold, question) },
    side('a'),
    side('b'),
  ];
}

function chooser({ a, b, forced }: ComparisonPage): Html {
  return filterForm({
    action: '/compare',
    hidden: { a: a.run, b: b.run, ...(forced.length > 0 && { force: 1 }) },
    fields: [
      select('armA', `A: arm of ${a.run}`, a.arm, options(a.arms)),
      select('armB', `B: arm of ${b.run}`, b.arm, options(b.arms)),
    ],
    button: 'Compare',
  });
}

function difference({ meanA, meanB, delta, interval, n, users }: NonNullable<ComparisonPage['difference']>): Html {
  const points = (share: number): string => formatNumber(share * 100, 1);
  const bounds =
    interval === null
      ? ', answers and gold probabilities equal on every item'
      : ` [${points(interval.low)}, ${points(interval.high)}]`;
  const over = users === 1 ? 'the questions of one user' : `${users} users`;
  return html`<p>
    Task success: A ${points(meanA)} %, B ${points(meanB)} %; difference <b>${points(delta)} points</b>${bounds}
    <span class="soft">(mean over ${n} paired ${n === 1 ? 'item' : 'items'}; 95 % interval over ${over})</span>
  </p>`;
}

function summary({ a, b, counts, difference: success, unknownQuality, forced }: ComparisonPage): Html {
  const { items, wins, losses, reworded, onlyA, onlyB } = counts;
  const judged = `${wins} won, ${losses} lost, ${items - wins - losses} tied, ${reworded} of these reworded`;
  const alone = Object.entries({ A: onlyA, B: onlyB }).filter(([, count]) => count > 0);
  return html`<p class="lead">
      A is <b>${printable(a.arm)}</b> of <b>${printable(a.run)}</b>, B is <b>${printable(b.arm)}</b> of
      <b>${printable(b.run)}</b>. ${items} items in common${unknownQuality === null ? `: ${judged}` : ''}.
      ${alone.length === 0 ? '' : `${alone.map(([side, count]) => `${count} items only in ${side}`).join(', ')}.`}
    </p>
    ${success === null ? '' : difference(success)}
    ${unknownQuality === null ? '' : html`<p class="note">Answers are not judged: ${printable(unknownQuality)}.</p>`}
    ${forced.map(
      ({ what, a: ofA, b: ofB }) =>
        html`<p class="verdict failed">
          <strong>FORCED: the runs differ in ${what}: ${printable(ofA)} / ${printable(ofB)}</strong>
        </p>`,
    )}`;
}

/** The page that compares two arms item by item, of one run or of two runs; flips come first. */
export function comparePage(model: ComparisonPage, links: Links): Html {
  const { a, b, pairs, page, pages, forced, hiddenTexts } = model;
  const force = forced.length === 0 ? {} : { force: true as const };
  const swap = { text: 'Swap A and B', href: links.compare(b, a, force) } as const;
  const around = numberedLinks(page, pages, (number) => links.compare(a, b, { ...force, page: number }));
  return html`<h1>Compare ${printable(a.arm)} with ${printable(b.arm)}</h1>
    ${summary(model)} ${hiddenNote(hiddenTexts)} ${links.answered ? chooser(model) : ''}
    ${pager(`Page ${page} of ${pages}`, [...around, swap])} ${listTable('Items', '', columns(model, links), pairs)}`;
}
