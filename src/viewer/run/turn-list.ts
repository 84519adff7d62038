import { html } from 'hono/html';
import { metricsOfRun } from '../../eval/analysis/metrics/metric-selection.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { listText } from '../../render/cut-text.ts';
import type { Html } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { formatNumber, groupedNumber } from '../../render/format-number.ts';
import type { BenchDatabase } from '../../store/database.ts';
import type { MetricDeclaration } from '../../store/records/run-description.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { mostCounted, TurnListRepository, type TurnListRow, type TurnSort } from '../../store/turn-list-repository.ts';
import { hiddenNote, rowWithoutTexts } from '../hidden-texts.ts';
import type { TurnsQuery, Links } from '../links.ts';
import { filterForm, goldText, type ListColumn, listTable, numberedLinks, type PageLink, pager, select, tick } from '../list-components.ts'; // prettier-ignore
import { filterValues, turnFilters } from './turn-filters.ts';

const pageSize = 50;

export function readTurnList(database: BenchDatabase, run: RunRecord, wanted: TurnsQuery, hiddenTexts: string | null) {
  const { primary } = metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] });
  // The column of the primary metric has its own name.
  const query = wanted.sort === primary.name ? { ...wanted, sort: 'primaryValue' } : wanted;
  const turns = new TurnListRepository(database);
  const values = filterValues(database, run, query);
  const { sort, descending, page: number, ...filter } = query;
  const quality = unknownQuality(run.model);
  const page = turns.page(run.id, { filter, sort: sort as TurnSort, descending, page: number, size: pageSize });
  return {
    run: run.name,
    query,
    values,
    primary,
    unknownQuality: quality,
    hiddenTexts,
    page: hiddenTexts === null ? page : { ...page, rows: page.rows.map(rowWithoutTexts) },
  };
}

/** A page of the turns; `unknownQuality` and `hiddenTexts` are the reasons why scores or texts are hidden, or null. */
export type TurnList = ReturnType<typeof readTurnList>;

interface TurnColumn {
  readonly key: TurnSort;
  readonly heading: string;
  readonly meaning: string;
  readonly digits: number;
  /** True for scores, which are hidden if quality is unknown. */
  readonly quality: boolean;
  /** Shown only if the list is sorted by it. */
  readonly onDemand: boolean;
}

const quality = { digits: 2, quality: true, onDemand: true } as const;
const rank = { digits: 0, quality: false, onDemand: true } as const;
const cost = { quality: false, onDemand: false } as const;

const numberColumns: readonly TurnColumn[] = [
  { ...quality, key: 'taskSuccess', heading: 'success', meaning: 'right answer, or right abstention' },
  { ...quality, key: 'exactMatch', heading: 'exact match', meaning: 'the gold answer, normalised' },
  { ...quality, key: 'tokenF1', heading: 'token F1', meaning: 'words in common with the gold answer', onDemand: false },
  { ...quality, key: 'memoryRecall', heading: 'memory recall', meaning: 'the answer contains the gold answer' },
  { ...quality, key: 'rougeL', heading: 'ROUGE-L', meaning: 'longest common subsequence with the gold answer' },
  { ...quality, key: 'bleu', heading: 'BLEU', meaning: 'n-grams in common with the gold answer' },
  { ...quality, key: 'abstention', heading: 'abstention', meaning: 'abstained where no answer exists' },
  { ...quality, key: 'goldLogProbability', heading: 'gold ln p', meaning: 'log-probability of the gold answer, nats' },
  { ...quality, key: 'freeLogProbability', heading: 'free ln p', meaning: 'mean log-probability of free text, nats' },
  { ...rank, key: 'evidenceRank', heading: 'evidence rank', meaning: 'worst rank of the evidence' },
  { ...cost, key: 'firstTokenMs', heading: 'TTFT, ms', meaning: 'time to first token', digits: 1 },
  { ...cost, key: 'totalMs', heading: 'total, ms', meaning: 'time of the whole turn', digits: 1 },
  { ...cost, key: 'promptTokens', heading: 'prompt', meaning: 'tokens given as text', digits: 0 },
  { ...cost, key: 'kvResidentTokens', heading: 'KV', meaning: 'cells filled by injected KV', digits: 0 },
  { ...cost, key: 'evaluatedTokens', heading: 'evaluated', meaning: 'tokens run through the model', digits: 0 },
  { ...cost, key: 'generatedTokens', heading: 'generated', meaning: 'tokens of the answer', digits: 0 },
];

/** All columns that can be sorted by. The column of the primary metric replaces the metric's usual column. */
function turnColumns({ name, label, unit }: MetricDeclaration): readonly TurnColumn[] {
  const [success, ...others] = numberColumns.filter(({ key }) => key !== name);
  const meaning = `the primary metric of the run${unit === '%' ? '' : `, ${unit}`}`;
  return [success!, { ...quality, key: 'primaryValue', heading: label, meaning, onDemand: false }, ...others];
}

function filters({ run, query, primary, values }: TurnList, links: Links): Html {
  const sorts = turnColumns(primary).filter(({ quality }) => values.judged || !quality);
  return filterForm({
    action: '/run',
    live: 'items',
    hidden: { run },
    fields: [
      turnFilters(query, values),
      select('sort', 'sorted by', query.sort, [
        ['', 'order of the run'],
        ...sorts.map(({ key, heading, meaning }) => [key, `${heading}: ${meaning}`] as const),
      ]),
      tick('descending', 'largest first', query.descending),
    ],
    unfiltered: Object.keys(query).length > 0 ? `${links.run(run)}#items` : undefined,
  });
}

function numberColumn({ run, query }: TurnList, column: TurnColumn, links: Links): ListColumn<TurnListRow> {
  const { key, heading, meaning, digits } = column;
  const { descending, sort, page: _, ...rest } = query;
  const sorted = sort !== key ? 'none' : descending === true ? 'descending' : 'ascending';
  const opposite = sorted === 'ascending' ? { descending: true as const } : {};
  const mark = { none: '', ascending: ' ↑', descending: ' ↓' }[sorted];
  const look = sorted === 'none' ? '' : 'sorted';
  return {
    heading: links.answered
      ? html`<a href="${links.run(run, { ...rest, sort: key, ...opposite })}#items" class="${look}"
          >${heading}${mark}</a
        >`
      : heading,
    title: meaning,
    look: 'right',
    sorted: links.answered ? sorted : undefined,
    cell: (turn) => {
      const value = turn[key];
      return value === null ? '–' : formatNumber(value, digits);
    },
  };
}

function verdictMark({ taskSuccess, error, wrongClass, failedStage }: TurnListRow, judged: boolean): Html {
  if (error !== null) return html`<b class="bad">error</b>`;
  if (!judged || taskSuccess === null) return html`–`;
  if (taskSuccess === 1) return html`<b class="good">✓ right</b>`;
  const where = failedStage === null ? '' : html` <span class="soft">failed at ${printable(failedStage)}</span>`;
  return html`<b class="bad">✗ wrong</b
    >${wrongClass === null ? '' : html` <span class="soft">${printable(wrongClass)}</span>`}${where}`;
}

function remarks({ repeat, turn, truncated, failedChecks }: TurnListRow): string {
  const marks = [
    repeat > 0 ? `repeat ${repeat}` : '',
    turn > 0 ? `turn ${turn}` : '',
    truncated ? 'truncated' : '',
    failedChecks === null ? '' : `fails ${failedChecks.replaceAll(',', ', ')}`,
  ];
  return marks.filter((mark) => mark !== '').join(', ');
}

function columns(list: TurnList, links: Links): ListColumn<TurnListRow>[] {
  const { run, query, primary, unknownQuality } = list;
  const numbers = turnColumns(primary).filter(({ key, quality, onDemand }) =>
    quality && unknownQuality !== null ? false : !onDemand || key === query.sort,
  );
  return [
    {
      heading: 'arm',
      cell: (row) => {
        const { itemId: item, arm, repeat, turn } = row;
        const marks = remarks(row);
        return html`<a data-open href="${links.turn({ run, item, arm, repeat, turn })}">${printable(arm)}</a>
          ${marks === '' ? '' : html`<span class="soft">${marks}</span>`}`;
      },
    },
    {
      heading: 'item',
      look: 'id',
      cell: ({ itemId }) => html`<a href="${links.item(run, itemId)}">${printable(itemId)}</a>`,
    },
    {
      heading: 'question',
      look: 'cut',
      cell: ({ question }) => (question === null ? html`<span class="soft">not recorded</span>` : listText(question)),
    },
    { heading: 'gold', look: 'cut', cell: ({ gold, question }) => goldText(gold, question) },
    {
      heading: 'answer',
      look: 'cut',
      cell: ({ answer, error }) =>
        error === null ? listText(answer) : html`<span class="bad">${listText(error)}</span>`,
    },
    { heading: 'verdict', cell: (row) => verdictMark(row, unknownQuality === null) },
    ...numbers.map((column) => numberColumn(list, column, links)),
  ];
}

/** `Turns 51 to 100 of 4,400` */
function place({ query: { page = 1 }, page: { rows, matching, hasNext } }: TurnList): string {
  if (rows.length === 0) return page === 1 ? 'No turn matches.' : 'There are no more turns.';
  const ahead = (page - 1) * pageSize;
  const last = ahead + rows.length;
  const shown = `Turns ${groupedNumber(ahead + 1)} to ${groupedNumber(last)}`;
  if (matching === 'many') return `${shown} of more than ${groupedNumber(mostCounted)}`;
  return matching === undefined && hasNext ? `${shown}, more follow` : `${shown} of ${groupedNumber(matching ?? last)}`;
}

function pageLinks({ run, query, page: { hasNext } }: TurnList, links: Links): PageLink[] {
  const { page = 1, ...rest } = query;
  const href = (to: number) => `${links.run(run, to === 1 ? rest : { ...rest, page: to })}#items`;
  return numberedLinks(page, hasNext ? page + 1 : page, href);
}

export function turnListSection(list: TurnList, links: Links): Html {
  const { page, unknownQuality, hiddenTexts } = list;
  const { sort: _sort, descending: _descending, page: _page, ...filter } = list.query;
  return html`<section id="items" aria-labelledby="items-heading">
    <h2 id="items-heading">Turns</h2>
    <p><a href="${links.matrix(list.run, links.answered ? filter : {})}">As a matrix of items and arms</a></p>
    ${unknownQuality === null ? '' : html`<p class="note">No scores: ${printable(unknownQuality)}.</p>`}
    ${hiddenNote(hiddenTexts)} ${links.answered ? filters(list, links) : ''}
    <div data-result="items">
      ${pager(place(list), pageLinks(list, links))}
      ${page.rows.length === 0 ? '' : listTable('Turns', '', columns(list, links), page.rows)}
    </div>
  </section> `;
}
