import { html } from 'hono/html';
import type { BenchDatabase } from '../../store/database.ts';
import type { TurnListRow } from '../../store/schema.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import { pictureFile } from '../../render/figure.ts';
import { renderFigure } from '../../render/figure.ts';
import { reportFigures } from '../../report/figures/report-figures.ts';
import type { Html } from '../../render/html-table.ts';
import { runNamed } from '../find-run.ts';
import { type HiddenTexts, hiddenInReports, rowWithoutTexts } from '../hidden-texts.ts';
import type { Links } from '../links.ts';
import { matrixPage } from '../matrix/matrix-page.ts';
import { readMatrixFile } from '../matrix/read-matrix.ts';
import { readRunPage, type RunPage } from '../run/read-run-page.ts';
import { otherTables, runPage, tablePage, withoutOutcomes } from '../run/run-page.ts';
import { style } from '../style.ts';
import { ExportFolder, type PagesFolder } from './export-folder.ts';
import { exportItem } from './export-items.ts';
import { ExportFiles } from './export-links.ts';
import { exportList, listPages } from './export-lists.ts';
import { PageWriter } from './page-writer.ts';

/** Upper bound of the bytes of a turn in lists: one row in each of two. */
const bytesOfListedTurn = 3000;
/** Upper bound of the bytes of the index, which is written last. */
const bytesOfIndex = 250_000;
/** Options of the pages of a run. */
export interface RunPages {
  readonly run: string;
  /** False for a report, which holds the outcomes of turns and no turns. */
  readonly hasTurns: boolean;
  /** The rule of texts; by default that of reports. */
  readonly hidden?: HiddenTexts;
  /** The script of the pages. */
  readonly script: string;
  /** Limit of all files together: items beyond it are left out, from the end of the run. */
  readonly mostBytes: number;
  readonly onProgress: (doneTurns: number, turns: number) => void;
  readonly signal: AbortSignal;
  /** They are a part of a site, whose index stands above them. */
  readonly inSite?: true;
}

/** Options of an export. */
export interface RunExport extends RunPages {
  /** A new folder, or an empty one. */
  readonly folder: string;
}

/** The content of a finished export. */
export interface ExportedRun {
  readonly files: number;
  readonly bytes: number;
  readonly items: number;
  readonly turns: number;
  /** The items that were left out, and the reason, in a sentence; undefined if the export is complete. */
  readonly leftOut: string | undefined;
}

/**
 * Writes a run as files that open from disk without a server: its page, its list of turns, its items and turns.
 * @throws BenchError `bad-option` for a folder that is not empty, `not-found` for an unknown run, `disk`; and the reason of
 * `signal` between two items
 */
export async function exportRun(database: BenchDatabase, options: RunExport): Promise<ExportedRun> {
  using folder = new ExportFolder(options.folder);
  const made = await writeRun(database, folder, options);
  folder.finish();
  return made;
}

/** Writes the pages of a run into a folder, of which nothing stays where that fails. @throws BenchError as `exportRun` */
export async function writeRun(database: BenchDatabase, folder: PagesFolder, options: RunPages): Promise<ExportedRun> {
  const { onProgress, signal, mostBytes, hasTurns, inSite = false } = options;
  const { hidden = hiddenInReports } = options;
  const model = readRunPage(database, options.run, {}, hidden);
  const rows = turnsOf(database, model.name, hidden);
  const writer = new PageWriter(folder, new ExportFiles(), hasTurns, inSite);
  await folder.write(writer.files.style, style);
  await folder.write(writer.files.script, options.script);
  await exportResults(writer, model);

  const available = mostBytes - bytesOfIndex;
  const kept: string[] = [];
  let turns = 0;
  for (const [item, ofItem] of Map.groupBy(rows, ({ itemId }) => itemId)) {
    signal.throwIfAborted();
    const forLists = (turns + ofItem.length) * bytesOfListedTurn;
    if (!(await exportItem(database, writer, { run: model.name, item, hidden }, available - forLists))) break;
    kept.push(item);
    turns += ofItem.length;
    onProgress(turns, rows.length);
  }

  await exportMatrix(database, writer, { run: model.name, items: kept, hidden });
  const leftOut = leftOutInWords(rows, kept, mostBytes);
  await exportIndex(writer, model, turnsOfItems(rows, kept), leftOut);
  const { files, bytes } = folder;
  return { files, bytes, items: kept.length, turns, leftOut };
}

/** All turns of a run, as lists show them. */
function turnsOf(database: BenchDatabase, name: string, hidden: HiddenTexts): TurnListRow[] {
  const run = runNamed(database, name);
  const shown = hidden(run) === null ? (row: TurnListRow) => row : rowWithoutTexts;
  return [...new TurnListRepository(database).rows(run.id)].map(shown);
}

function turnsOfItems(rows: readonly TurnListRow[], items: readonly string[]): TurnListRow[] {
  const kept = new Set(items);
  return rows.filter(({ itemId }) => kept.has(itemId));
}

function leftOutInWords(rows: readonly TurnListRow[], kept: readonly string[], mostBytes: number): string | undefined {
  const items = new Set(rows.map(({ itemId }) => itemId)).size;
  const turns = rows.length - turnsOfItems(rows, kept).length;
  if (turns === 0) return undefined;
  const count = (value: number) => value.toLocaleString('en');
  return `Left out: the last ${count(items - kept.length)} of ${count(items)} items, ${count(turns)} of ${count(rows.length)} turns. An export takes at most ${count(mostBytes / 1e6)} MB.`;
}

/** Writes the matrix of the items that were written. */
async function exportMatrix(
  database: BenchDatabase,
  writer: PageWriter,
  { run, items, hidden }: { readonly run: string; readonly items: readonly string[]; readonly hidden: HiddenTexts },
): Promise<void> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const matrix = readMatrixFile(database, run, items, page, hidden);
    pages = matrix.pages;
    await writer.write({
      ...{ path: writer.files.matrix({ page }), kind: 'matrix', title: 'Items and arms' },
      breadcrumbs: (links) => [{ text: run, href: links.run(run) }],
      body: (links) => matrixPage(matrix, links),
    });
  }
}

/** Writes the tables that the index only links, and all figures. */
async function exportResults(writer: PageWriter, { name, results }: RunPage): Promise<void> {
  if (results === null) return;
  const { files, folder } = writer;
  for (const table of otherTables(results)) {
    await writer.write({
      ...{ path: files.table(table.id), kind: 'run', title: table.caption },
      breadcrumbs: (links) => [{ text: name, href: links.run(name) }],
      body: () => tablePage(table),
    });
  }
  for (const figure of reportFigures(results)) {
    await folder.write(files.figure(figure.id), pictureFile(await renderFigure(figure)));
  }
}

async function exportIndex(
  writer: PageWriter,
  model: RunPage,
  rows: readonly TurnListRow[],
  leftOut: string | undefined,
): Promise<void> {
  const { items } = model;
  const disagreeing = items.unknownQuality === null ? rows.filter((row) => row.disagreeing) : [];
  const [first, ...others] = listPages(items, {}, rows);
  for (const list of others) await exportList(writer, list);
  if (disagreeing.length > 0) {
    for (const list of listPages(items, { disagreeing: true }, disagreeing)) await exportList(writer, list);
  }
  const note = (links: Links): Html =>
    html`<p class="note">
        Exported from the viewer: filters of turns, comparisons and differences to arms other than RAG need
        <code>npm run inspect</code>. ${leftOut === undefined ? '' : html`<strong>${leftOut}</strong>`}
        ${
          disagreeing.length === 0
            ? ''
            : html`<a href="${links.run(model.name, { disagreeing: true })}"
                >${disagreeing.length} turns of items on which arms disagree</a
              >`
        }
      </p>
      ${writer.opensTurns || rows.length > 0 ? '' : withoutOutcomes(model)}`;
  await writer.write({
    ...{ path: writer.files.index, kind: 'run', title: model.name },
    body: (links) => runPage({ ...model, items: first! }, links, note(links)),
  });
}
