/** Tables of what the command line lists: data sets, models and metrics. */
import type { BroughtEntry, CatalogueEntry } from '../data/dataset-catalogue.ts';
import { countColumn, itemRows, numberColumn, type Table, textCell, textColumn } from '../render/table.ts';
import type { MetricDeclaration } from '../store/records/metric-declaration.ts';

const SHOWN_HASH = 12;

/** Table of the data sets that can be named. */
export function datasetsTable(entries: readonly CatalogueEntry[]): Table {
  return {
    id: 'datasets',
    caption: 'Data sets',
    rowHeading: 'name',
    ...itemRows(entries, ({ name }) => name, [
      {
        columns: [
          textColumn('language', 'language', ({ language }) => language),
          countColumn('users', 'users', ({ users }) => users),
          countColumn('memories', 'memories', ({ memories }) => memories),
          countColumn('items', 'items', ({ items }) => items),
          textColumn('sha256', 'sha256', ({ sha256 }) => sha256.slice(0, SHOWN_HASH)),
          textColumn('ships', 'ships', ({ ships }) => (ships ? 'yes' : 'no')),
          textColumn('suites', 'made for', ({ suites }) => suites.join(', ') || null),
        ],
      },
    ]),
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
    ...itemRows(entries, ({ name }) => name, [
      {
        columns: [
          textColumn('summary', 'content', ({ summary }) => summary),
          textColumn('published', 'published', ({ published }) => published),
          textColumn('licence', 'licence', ({ licence }) => licence),
          textColumn('fetched', 'in the cache', ({ fetched }) => (fetched === null ? 'no' : 'yes')),
        ],
      },
    ]),
    notes: ['--dataset NAME --data-file FILE, or fetch it once: data fetch NAME. docs/data.md says more.'],
  };
}

/** Table of the declarations of metrics. */
export function metricsTable(metrics: readonly MetricDeclaration[]): Table {
  return {
    id: 'metrics',
    caption: 'Metrics',
    rowHeading: 'name',
    ...itemRows(metrics, ({ name }) => name, [
      {
        columns: [
          textColumn('label', 'in tables', ({ label }) => label),
          textColumn('kind', 'kind', ({ kind }) => kind),
          textColumn('better', 'better', ({ direction }) => direction),
          textColumn('margin', 'kept within', ({ margin, unit }) => `${margin} ${unit === '%' ? 'points' : unit}`),
        ],
      },
    ]),
    notes: [
      'docs/metrics.md defines each. Kept within: the loss that a verdict still calls kept; --margin sets that of metrics in %.',
    ],
  };
}

/** A model as its row shows it. */
export interface ShownModel {
  readonly name: string;
  readonly kind: 'language-model' | 'embedder';
  readonly bytes: number;
  readonly licence: string | null;
  readonly kept: 'ships' | 'whole' | 'in part' | 'absent';
  readonly asked: { readonly template: string; readonly answerPrefix: string } | null;
  readonly embedder: string | null;
}

const inCache = { ships: 'ships', whole: 'yes', 'in part': 'in part', absent: 'no' } as const;

/** A size for readers: `98.4 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Table of the models that can be named. */
export function modelsTable(models: readonly ShownModel[]): Table {
  return {
    id: 'models',
    caption: 'Models',
    rowHeading: 'name',
    ...itemRows(models, ({ name }) => name, [
      {
        columns: [
          textColumn('kind', 'kind', ({ kind }) => (kind === 'embedder' ? 'embedder' : 'language model')),
          numberColumn('size', 'size', ({ bytes }) => textCell(megabytes(bytes))),
          textColumn('licence', 'licence', ({ licence }) => licence),
          textColumn('kept', 'in the cache', ({ kept }) => inCache[kept]),
          textColumn('embedder', 'embedder', ({ embedder }) => embedder),
          textColumn('asked', 'prompt', ({ asked }) => asked && askedInWords(asked)),
        ],
      },
    ]),
    notes: [],
  };
}

/** `chat template, answer begins "According to your notes,"` */
export function askedInWords({ template, answerPrefix }: NonNullable<ShownModel['asked']>): string {
  const form = template === 'chat' ? 'chat template' : 'plain form';
  if (answerPrefix === 'none') return form;
  return `${form}, answer begins ${answerPrefix === 'item' ? "with the item's own words" : `"${answerPrefix}"`}`;
}
