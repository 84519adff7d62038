import type { BenchDatabase } from '../../db/database.ts';
import { itemPage } from '../item/item-page.ts';
import { readItemPage } from '../item/read-item-page.ts';
import { readTurnPage, refOf } from '../turn/read-turn.ts';
import { turnJson } from '../turn/turn-json.ts';
import { turnPage } from '../turn/turn-page.ts';
import { pairPage } from '../pair/pair-page.ts';
import { readPair } from '../pair/read-pair.ts';
import type { PageWriter } from './page-writer.ts';

/**
 * Writes an item with all its turns, or nothing of it if the folder would exceed `mostBytes`.
 * @returns true if it was written
 */
export async function exportItem(
  database: BenchDatabase,
  writer: PageWriter,
  { run, item }: { readonly run: string; readonly item: string },
  mostBytes: number,
): Promise<boolean> {
  const { files, folder } = writer;
  const model = readItemPage(database, run, item);
  const written = [files.item(item)];
  await writer.write({
    ...{ path: files.item(item), kind: 'item', title: item },
    breadcrumbs: (links) => [{ text: run, href: links.run(run) }],
    body: (links) => itemPage(model, links),
  });
  for (const one of model.turns) {
    const ref = refOf(model.run, one);
    const turn = readTurnPage(database, ref);
    const [page, json] = [files.turn(ref, 'html'), files.turn(ref, 'json')];
    await writer.write({
      ...{ path: page, kind: 'turn', title: one.arm },
      breadcrumbs: (links) => [
        { text: run, href: links.run(run) },
        { text: item, href: links.item(run, item) },
      ],
      body: (links) => turnPage(turn, links),
    });
    await folder.write(json, turnJson(turn));
    written.push(page, json);
    if (turn.turn.state === 'answered' && turn.against !== undefined) {
      const beside = files.pair(ref, turn.against.arm);
      const pair = readPair(database, ref, turn.against.arm);
      await writer.write({
        ...{ path: beside, kind: 'pair', title: `${one.arm} beside ${turn.against.arm}` },
        breadcrumbs: (links) => [
          { text: run, href: links.run(run) },
          { text: item, href: links.item(run, item) },
        ],
        body: (links) => pairPage(pair, links),
      });
      written.push(beside);
    }
    if (folder.bytes > mostBytes) {
      await folder.remove(written);
      return false;
    }
  }
  return true;
}
