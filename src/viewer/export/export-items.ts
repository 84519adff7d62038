import type { BenchDatabase } from '../../store/database.ts';
import type { Html } from '../../render/html-table.ts';
import type { HiddenTexts } from '../hidden-texts.ts';
import { itemOutcomesPage, readItemOutcomes } from '../item/item-outcomes.ts';
import type { Breadcrumb } from '../layout.ts';
import type { Links } from '../links.ts';
import { itemPage } from '../item/item-page.ts';
import { readItemPage } from '../item/read-item-page.ts';
import { readTurnPage, refOf } from '../turn/read-turn.ts';
import { turnJson } from '../turn/turn-json.ts';
import { turnPage } from '../turn/turn-page.ts';
import { pairPage } from '../pair/pair-page.ts';
import { readPair } from '../pair/read-pair.ts';
import type { PageWriter } from './page-writer.ts';

/** An item of a run that is written. */
export interface ExportedItem {
  readonly run: string;
  readonly item: string;
  readonly hidden: HiddenTexts;
}

/**
 * Writes an item with all its turns, or nothing of it if the folder would exceed `mostBytes`.
 * @returns true if it was written
 */
export async function exportItem(
  database: BenchDatabase,
  writer: PageWriter,
  exported: ExportedItem,
  mostBytes: number,
): Promise<boolean> {
  const { folder, opensTurns } = writer;
  const written: string[] = [];
  for await (const paths of opensTurns
    ? pagesOf(database, writer, exported)
    : outcomePage(database, writer, exported)) {
    written.push(...paths);
    if (folder.bytes <= mostBytes) continue;
    await folder.remove(written);
    return false;
  }
  return true;
}

/** Writes the page of an item of a report. */
async function* outcomePage(
  database: BenchDatabase,
  writer: PageWriter,
  { run, item, hidden }: ExportedItem,
): AsyncGenerator<readonly string[]> {
  const model = readItemOutcomes(database, run, item, hidden);
  const path = writer.files.item(item);
  await writer.write({
    ...{ path, kind: 'item', title: item },
    breadcrumbs: (links) => [{ text: run, href: links.run(run) }],
    body: (links) => itemOutcomesPage(model, links),
  });
  yield [path];
}

/** Writes the pages of an item and its turns, and gives the paths of those that are written. */
async function* pagesOf(
  database: BenchDatabase,
  writer: PageWriter,
  { run, item, hidden }: ExportedItem,
): AsyncGenerator<readonly string[]> {
  const { files, folder } = writer;
  const model = readItemPage(database, run, item, hidden);
  await writer.write({
    ...{ path: files.item(item), kind: 'item', title: item },
    breadcrumbs: (links) => [{ text: run, href: links.run(run) }],
    body: (links) => itemPage(model, links),
  });
  yield [files.item(item)];
  const breadcrumbs = (links: Links): Breadcrumb[] => [
    { text: run, href: links.run(run) },
    { text: item, href: links.item(run, item) },
  ];
  for (const one of model.turns) {
    const ref = refOf(model.run, one);
    const turn = readTurnPage(database, ref, undefined, hidden);
    const [page, json] = [files.turn(ref, 'html'), files.turn(ref, 'json')];
    const body = (links: Links): Html => turnPage(turn, links);
    await writer.write({ path: page, kind: 'turn', title: one.arm, breadcrumbs, body });
    await folder.write(json, turnJson(turn));
    yield [page, json];
    if (turn.turn.state === 'failed' || turn.against === undefined) continue;
    const other = turn.against.arm;
    const pair = readPair(database, ref, other, hidden);
    const path = files.pair(ref, other);
    const title = `${one.arm} beside ${other}`;
    await writer.write({ path, kind: 'pair', title, breadcrumbs, body: (links) => pairPage(pair, links) });
    yield [path];
  }
}
