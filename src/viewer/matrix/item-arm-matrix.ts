import { html } from 'hono/html';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { listText } from '../../render/cut-text.ts';
import type { Html } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { wrappingName } from '../../render/table-html.ts';
import { groupedNumber } from '../../render/format-number.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { TurnListRepository, type TurnOutcome } from '../../store/turn-list-repository.ts';
import { findRunByName } from '../../eval/analysis/results-from-stored-turns.ts';
import { type HiddenTexts, hiddenInReports, hiddenNote } from '../hidden-texts.ts';
import type { Links, MatrixQuery } from '../links.ts';
import {
  answerText,
  filterForm,
  type ListColumn,
  listTable,
  numberedLinks,
  pageOf,
  pager,
  goldText,
} from '../list-components.ts';
import { filterValues, turnFilters } from './turn-filters.ts';
import { cacheNames } from '../turn/kv-and-cost-sections.ts';

/** The outcome of an arm on an item: `mixed` if repeats differ, `answered` if quality is unknown. */
export type Outcome = 'right' | 'wrong' | 'abstained' | 'mixed' | 'error' | 'answered';

/** Marks in the matrix, distinct without colour. */
export const outcomeMarks: Readonly<Record<Outcome, string>> = {
  right: '✓',
  wrong: '✗',
  abstained: '○',
  mixed: '½',
  error: '!',
  answered: '·',
};

function outcomeOfTurn(turn: TurnOutcome, judged: boolean): Outcome {
  if (turn.error !== null) return 'error';
  if (!judged) return 'answered';
  if (turn.abstention === 1 || turn.wrongClass === 'wrong-abstention') return 'abstained';
  return turn.taskSuccess === 1 ? 'right' : 'wrong';
}

/** The outcome of the turns of one arm on one item. @param turns not empty @param judged false if quality is unknown */
export function armOutcome(turns: readonly TurnOutcome[], judged: boolean): Outcome {
  const outcomes = new Set(turns.map((turn) => outcomeOfTurn(turn, judged)));
  const [only] = outcomes;
  return outcomes.size === 1 ? only! : 'mixed';
}

/** True if every turn is right: the right answer, or an abstention if none exists. */
function isRight(turns: readonly TurnOutcome[]): boolean {
  return turns.every(({ error, taskSuccess }) => error === null && taskSuccess === 1);
}

/** The class of an outcome on pages. */
export function outcomeLook(turns: readonly TurnOutcome[], judged: boolean) {
  if (!judged) return 'soft';
  return isRight(turns) ? 'good' : 'bad';
}

/** An outcome as text: `wrong: superseded, failed at answered, cache hit`. */
export function outcomeText(turns: readonly TurnOutcome[], judged: boolean): string {
  const outcome = armOutcome(turns, judged);
  const { wrongClass, failedStage, cache, failedChecks } = turns[0]!;
  const rightly = outcome === 'abstained' ? (isRight(turns) ? ', rightly' : ', wrongly') : '';
  const right = turns.filter((turn) => isRight([turn])).length;
  const share = turns.length === 1 ? '' : `, right in ${right} of ${turns.length}`;
  const parts = [
    `${outcome}${rightly}${share}${!judged || wrongClass === null || outcome === 'abstained' ? '' : `: ${wrongClass}`}`,
    ...(!judged || failedStage === null ? [] : [`failed at ${failedStage}`]),
    ...(cache === null || cache === 'bypass' ? [] : [cacheNames[cache as keyof typeof cacheNames]]),
    ...(failedChecks === null ? [] : [`fails ${failedChecks.replaceAll(',', ', ')}`]),
  ];
  return printable(parts.join(', '));
}

/** Limit of cells per page: wider matrices have fewer rows per page. */
const mostCells = 500;
const mostRows = 20;
const leastRows = 10;
const mostRowsOfFile = 250;

/** An item with its turns by arm. @param hidden true to leave out texts */
export function matrixRow(itemId: string, turns: readonly TurnOutcome[], hidden: boolean) {
  const known = turns.find(({ question }) => question !== null);
  const shown = hidden
    ? turns.map((turn) => ({ ...turn, question: '', answer: '', error: turn.error && 'failed' }))
    : turns;
  return {
    itemId,
    question: hidden ? '' : (known?.question ?? null),
    gold: hidden ? '' : (known?.gold ?? null),
    turns: Map.groupBy(shown, ({ arm }) => arm),
  };
}

type MatrixRow = ReturnType<typeof matrixRow>;

export interface MatrixOptions {
  readonly hidden?: HiddenTexts | undefined;
  /** The page is written to a file. */
  readonly inFile?: boolean;
}

/** Reads a page of the matrix. @throws BenchError `not-found` for an unknown run, arm or category */
export function readMatrix(
  database: BenchDatabase,
  name: string,
  query: MatrixQuery,
  { hidden = hiddenInReports, inFile = false }: MatrixOptions = {},
) {
  const run = findRunByName(database, name);
  const values = filterValues(database, run, query);
  const { page: wanted, ...filter } = query;
  const items = new TurnListRepository(database).items(run.id, filter);
  const { arms } = values;
  const size = inFile ? mostRowsOfFile : Math.max(leastRows, Math.min(mostRows, Math.floor(mostCells / arms.length)));
  const { page, pages, shown } = pageOf(items, size, wanted);
  const turns = Map.groupBy(new TurnListRepository(database).outcomes(run.id, shown), ({ itemId }) => itemId);
  const hiddenTexts = hidden(run);
  return {
    run: run.name,
    query,
    values,
    arms,
    page,
    pages,
    hiddenTexts,
    rows: shown.map((itemId) => matrixRow(itemId, turns.get(itemId) ?? [], hiddenTexts !== null)),
    first: (page - 1) * size + 1,
    matching: items.length,
    unknownQuality: unknownQuality(run.model),
  };
}

/** A page of the matrix of items and arms; `first` is the number of its first row among the matching items, from 1. */
export type MatrixPage = ReturnType<typeof readMatrix>;

const mostAnswers = 12;

const legend: readonly (readonly [Outcome, string])[] = [
  ['right', 'right'],
  ['wrong', 'wrong'],
  ['abstained', 'abstained'],
  ['mixed', 'repeats differ'],
  ['error', 'error'],
];

/** The outcome of an arm on an item, with attributes for the filters of an exported page. */
function outcomeCell({ run, unknownQuality }: MatrixPage, { itemId, turns }: MatrixRow, arm: string, links: Links) {
  const ofArm = turns.get(arm);
  if (ofArm === undefined) return html`<td class="o"></td>`;
  const judged = unknownQuality === null;
  const outcome = armOutcome(ofArm, judged);
  const look = outcomeLook(ofArm, judged);
  const { repeat, turn, wrongClass, failedStage, cache, failedChecks } = ofArm[0]!;
  const words = `${printable(arm)}: ${outcomeText(ofArm, judged)}`;
  return html`<td
    class="o ${outcome} ${look}"
    data-class="${wrongClass ?? ''}"
    data-stage="${failedStage ?? ''}"
    data-cache="${cache ?? ''}"
    data-checks="${failedChecks ?? ''}"
  >
    <a href="${links.turn({ run, item: itemId, arm, repeat, turn })}" title="${words}"
      ><b aria-hidden="true">${outcomeMarks[outcome]}</b></a
    >
  </td>`;
}

/** Answers with the arms that gave them, most frequent first. */
function answers({ arms: order }: MatrixPage, { turns }: MatrixRow, judged: boolean): Html {
  const all = order.flatMap((arm) => turns.get(arm) ?? []);
  const groups = Map.groupBy(all, ({ answer, error }) => JSON.stringify([answer.trim(), error]));
  const byAnswer = [...groups.values()].sort((a, b) => b.length - a.length);
  return html`<dl class="answers">
    ${byAnswer.slice(0, mostAnswers).map((same) => {
      const { answer, error } = same[0]!;
      const mark = judged ? `${outcomeMarks[armOutcome(same, judged)]} ` : '';
      const arms = [...new Set(same.map(({ arm }) => arm))].join(', ');
      return html`<dt class="cut">
          <span class="${outcomeLook(same, judged)}">${mark}${answerText(answer.trim(), error)}</span>
        </dt>
        <dd>${printable(arms)}</dd> `;
    })}
    ${byAnswer.length > mostAnswers ? html`<dt class="soft">and ${byAnswer.length - mostAnswers} other answers</dt>` : ''}
  </dl>`;
}

function questionCell(matrix: MatrixPage, row: MatrixRow, links: Links): Html {
  const { run, hiddenTexts, unknownQuality } = matrix;
  const { itemId, question } = row;
  const shown = hiddenTexts !== null || question === null ? printable(itemId) : listText(question);
  const link = (text: string) => html`<a class="soft" data-open href="${links.item(run, itemId)}">${text}</a>`;
  if (hiddenTexts !== null) return html`${shown} ${link('item')}`;
  return html`${link(printable(itemId))}
    <details>
      <summary>${shown}</summary>
      ${answers(matrix, row, unknownQuality === null)}
    </details>`;
}

function columns(matrix: MatrixPage, links: Links): ListColumn<MatrixRow>[] {
  const isHidden = matrix.hiddenTexts !== null;
  return [
    { heading: 'question', cell: (row) => questionCell(matrix, row, links) },
    { heading: 'gold', look: 'gold cut', cell: ({ gold, question }) => (isHidden ? '' : goldText(gold, question)) },
    ...matrix.arms.map((arm): ListColumn<MatrixRow> => ({
      heading: html`<span>${wrappingName(arm)}</span>`,
      look: 'arm',
      cell: (row) => outcomeCell(matrix, row, arm, links),
      isWhole: true,
    })),
  ];
}

function filters({ run, query, values }: MatrixPage, links: Links): Html {
  const { page: _, ...filter } = query;
  // In a file, the script filters the rows of the page.
  if (!links.answered) {
    return html`<form class="filters" data-static="matrix">
      ${turnFilters({}, values, true)}
      <span class="soft">Filters act on the items of this page: <output>all are shown</output>.</span>
    </form>`;
  }
  return filterForm({
    action: '/run',
    live: 'matrix',
    hidden: { run },
    fields: turnFilters(query, values),
    unfiltered: Object.keys(filter).length === 0 ? undefined : `${links.run(run)}#items`,
  });
}

/** The matrix of items and arms, with a mark per outcome; a question opens to show the answers. */
export function matrixSection(matrix: MatrixPage, links: Links): Html {
  const { run, query, rows, first, matching, page, pages, hiddenTexts } = matrix;
  const { page: _, ...filter } = query;
  const marks = matrix.unknownQuality === null ? legend : [];
  const last = groupedNumber(first + rows.length - 1);
  const status =
    matching === 0 ? 'No item matches.' : `Items ${groupedNumber(first)} to ${last} of ${groupedNumber(matching)}`;
  const href = (to: number) => `${links.run(run, to === 1 ? filter : { ...filter, page: to })}#items`;
  return html`<section id="items" aria-labelledby="items-heading">
    <h2 id="items-heading">Items and arms</h2>
    ${matrix.unknownQuality === null ? '' : html`<p class="note">No scores: ${printable(matrix.unknownQuality)}.</p>`}
    ${hiddenNote(hiddenTexts)}
    <details class="tools" ${Object.keys(filter).length > 0 ? html`open` : ''}>
      <summary>Filters</summary>
      ${filters(matrix, links)}
    </details>
    <ul class="legend">
      ${marks.map(([outcome, words]) => html`<li class="o ${outcome}"><b>${outcomeMarks[outcome]}</b> ${words}</li> `)}
      <li class="soft">
        ${marks.length === 0 ? '' : 'red: not as it should be; '}a mark opens its turn, a question its answers
      </li>
    </ul>
    <div data-result="matrix">
      ${pager(status, numberedLinks(page, pages, href))}
      ${rows.length === 0 ? '' : listTable('Items and arms', 'matrix', columns(matrix, links), rows)}
    </div>
  </section> `;
}
