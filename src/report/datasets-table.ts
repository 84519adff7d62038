import type { BroughtEntry, CatalogueEntry } from '../data/dataset-catalogue.ts';
import { countCell, none, type Table, textCell } from '../render/table.ts';

const SHOWN_HASH = 12;

/** Table of the data sets that can be named. */
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
      : ['Data sets that do not ship: size and hash with default seed and users.'],
  };
}

/** Table of the public data sets, whose file a user brings. */
export function broughtTable(entries: readonly BroughtEntry[]): Table {
  return {
    id: 'public-datasets',
    caption: 'Public data sets: bring a file, or fetch it',
    rowHeading: 'name',
    blocks: [
      {
        columns: [
          { key: 'summary', heading: 'what', align: 'left' },
          { key: 'published', heading: 'published', align: 'left' },
          { key: 'licence', heading: 'licence', align: 'left' },
          { key: 'fetched', heading: 'in the cache', align: 'left' },
        ],
      },
    ],
    rows: entries.map(({ name, summary, published, licence, fetched }) => ({
      label: name,
      cells: {
        summary: textCell(summary),
        published: textCell(published),
        licence: textCell(licence),
        fetched: textCell(fetched === null ? 'no' : 'yes'),
      },
    })),
    notes: ['--dataset NAME --data-file FILE, or fetch it once: data fetch NAME. docs/data.md says more.'],
  };
}
