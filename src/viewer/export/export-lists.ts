import { html } from 'hono/html';
import type { TurnListRow } from '../../store/schema.ts';
import { printable } from '../../render/printable.ts';
import type { ItemQuery } from '../links.ts';
import { type ItemList, itemList } from '../run/item-list.ts';
import { listedTurns } from './export-links.ts';
import type { PageWriter } from './page-writer.ts';

/** Splits a list of turns into pages as the viewer shows them; an empty list has one page. */
export function listPages(list: ItemList, query: ItemQuery, rows: readonly TurnListRow[]): ItemList[] {
  const pages = Math.max(1, Math.ceil(rows.length / listedTurns));
  return Array.from({ length: pages }, (_, page) => {
    const at = page * listedTurns;
    const previous = rows[at - 1];
    return {
      ...list,
      query: previous === undefined ? query : { ...query, after: previous.turnId, at },
      page: {
        rows: rows.slice(at, at + listedTurns),
        hasPrevious: page > 0,
        hasNext: page < pages - 1,
        matching: rows.length,
      },
    };
  });
}

/** Writes a page of a list that is not on the index. */
export async function exportList(writer: PageWriter, list: ItemList): Promise<void> {
  const { run, query } = list;
  const what = query.disagreeing === true ? 'Where arms disagree' : 'Turns';
  await writer.write({
    ...{ path: writer.files.list(query), kind: 'run', title: what },
    breadcrumbs: (links) => [{ text: run, href: links.run(run) }],
    body: (links) =>
      html`<h1>${what}</h1>
        <p class="lead">Run <a href="${links.run(run)}">${printable(run)}</a></p>
        ${itemList(list, links)}`,
  });
}
