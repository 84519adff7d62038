import type { CatalogueEntry } from '../eval/dataset/dataset-catalogue.ts';
import { countCell, none, type Table, textCell } from './table.ts';

const SHOWN_HASH = 12;

/** The data sets that can be named, one a row. */
export function datasetsTable(entries: readonly CatalogueEntry[]): Table {
  return {
    id: 'datasets',
    caption: 'Data sets',
    rowHeading: 'name',
    blocks: [
      {
        columns: [
          { key: 'language', heading: 'language', align: 'left' },
          { key: 'users', heading: 'users', align: 'right' },
          { key: 'memories', heading: 'memories', align: 'right' },
          { key: 'items', heading: 'items', align: 'right' },
          { key: 'sha256', heading: 'sha256', align: 'left' },
          { key: 'ships', heading: 'ships', align: 'left' },
          { key: 'suites', heading: 'made for', align: 'left' },
        ],
      },
    ],
    rows: entries.map(({ name, ships, suites, language, users, memories, items, sha256 }) => ({
      label: name,
      cells: {
        language: textCell(language),
        users: countCell(users),
        memories: countCell(memories),
        items: countCell(items),
        sha256: textCell(sha256.slice(0, SHOWN_HASH)),
        ships: textCell(ships ? 'yes' : 'no'),
        suites: suites.length === 0 ? none : textCell(suites.join(', ')),
      },
    })),
    notes: entries.every(({ ships }) => ships)
      ? []
      : ['Sizes and hashes of those that do not ship are of their preset seed and users.'],
  };
}
