/** Tables of the commands that list data sets, metrics and runs, and the words for how a model is prompted. */
import type { PublicDatasetEntry, CatalogueEntry } from '../data/dataset-catalogue.ts';
import type { PromptDefaults } from '../models/model-registry.ts';
import { numberCell, itemRows, type Table, textCell } from '../render/table.ts';
import type { MetricDeclaration } from '../store/records/run-description.ts';
import type { RunListEntry } from '../store/run-repository.ts';

const SHOWN_HASH = 12;

/** A table of entries by name, with a column for each heading. */
export function listTable<Entry extends { readonly name: string }>(
  { id, caption, notes }: Pick<Table, 'id' | 'caption' | 'notes'>,
  entries: readonly Entry[],
  columns: Readonly<Record<string, (entry: Entry) => string | number | null>>,
): Table {
  const shown = Object.entries(columns).map(([heading, value]) => ({
    key: heading,
    heading,
    kind: typeof (entries[0] && value(entries[0])) === 'number' ? ('number' as const) : ('text' as const),
    cell: (entry: Entry) => {
      const found = value(entry);
      return typeof found === 'number' ? numberCell(found, 0) : textCell(found);
    },
  }));
  return { id, caption, rowHeading: 'name', ...itemRows(entries, ({ name }) => name, [{ columns: shown }]), notes };
}

export function datasetsTable(entries: readonly CatalogueEntry[]): Table {
  return listTable({ id: 'datasets', caption: 'Data sets', notes: [] }, entries, {
    language: ({ language }) => language,
    users: ({ users }) => users,
    memories: ({ memories }) => memories,
    items: ({ items }) => items,
    sha256: ({ sha256 }) => sha256?.slice(0, SHOWN_HASH) ?? null,
    ships: ({ ships }) => (ships ? 'yes' : 'no'),
    'made for': ({ suites }) => suites.join(', ') || null,
  });
}

export function publicDatasetsTable(entries: readonly PublicDatasetEntry[]): Table {
  const caption = 'Public data sets';
  const notes = ['Use a file: --dataset NAME --data-file FILE. Or fetch it once: data fetch NAME. See docs/data.md.'];
  return listTable({ id: 'public-datasets', caption, notes }, entries, {
    content: ({ summary }) => summary,
    published: ({ published }) => published,
    licence: ({ licence }) => licence,
    'in the cache': ({ fetched }) => (fetched === null ? 'no' : 'yes'),
  });
}

export function metricsTable(metrics: readonly MetricDeclaration[]): Table {
  const notes = [
    'docs/metrics.md defines each. Kept within: the largest loss that a verdict calls kept; --margin sets it for metrics in %.',
  ];
  return listTable({ id: 'metrics', caption: 'Metrics', notes }, metrics, {
    'in tables': ({ label }) => label,
    kind: ({ kind }) => kind,
    better: ({ direction }) => direction,
    'kept within': ({ margin, unit }) => `${margin} ${unit === '%' ? 'points' : unit}`,
  });
}

export function runsTable(entries: readonly RunListEntry[]): Table {
  const notes = entries.length === 0 ? ['There is no run yet: npx dki-bench bench makes one.'] : [];
  return listTable({ id: 'runs', caption: 'Runs', notes }, entries, {
    suite: ({ suite }) => suite,
    status: ({ status }) => status,
    'started, UTC': ({ startedAt }) => new Date(startedAt).toISOString().slice(0, 16).replace('T', ' '),
    model: ({ model }) => model,
    data: ({ dataset }) => dataset,
    items: ({ items }) => items,
  });
}

/** `chat template, answer begins "According to your notes,"` */
export function promptFormText({ template, answerPrefix }: PromptDefaults): string {
  const form = template === 'chat' ? 'chat template' : 'plain form';
  if (answerPrefix === 'none') return form;
  return `${form}, answer begins ${answerPrefix === 'item' ? "with the item's own words" : `"${answerPrefix}"`}`;
}
