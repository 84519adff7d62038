/** Tables of the commands that list data sets, models and metrics. */
import type { PublicDatasetEntry, CatalogueEntry } from '../data/dataset-catalogue.ts';
import { groupedNumber } from '../render/format-number.ts';
import { numberCell, itemRows, type Table, textCell } from '../render/table.ts';
import type { MetricDeclaration } from '../store/records/run-description.ts';

const SHOWN_HASH = 12;

function listTable<Entry extends { readonly name: string }>(
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
  const note = 'For data sets that do not ship, counts and hash hold for the default seed and number of users.';
  const notes = entries.every(({ ships }) => ships) ? [] : [note];
  return listTable({ id: 'datasets', caption: 'Data sets', notes }, entries, {
    language: ({ language }) => language,
    users: ({ users }) => users,
    memories: ({ memories }) => memories,
    items: ({ items }) => items,
    sha256: ({ sha256 }) => sha256.slice(0, SHOWN_HASH),
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

export interface ShownModel {
  readonly name: string;
  readonly kind: 'language-model' | 'embedder';
  readonly bytes: number;
  readonly licence: string | null;
  readonly kept: 'ships' | 'whole' | 'in part' | 'absent';
  readonly asked: { readonly template: string; readonly answerPrefix: string } | null;
  readonly embedder: string | null;
  readonly measured: string | null;
  readonly parameters: number | null;
  readonly windowTokens: number | null;
  readonly weights: readonly { readonly type: string; readonly share: number }[] | null;
}

const inCache = { ships: 'ships', whole: 'yes', 'in part': 'in part', absent: 'no' } as const;

/** A size for readers: `98.4 MB`. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export function modelsTable(models: readonly ShownModel[]): Table {
  return listTable({ id: 'models', caption: 'Models', notes: [] }, models, {
    kind: ({ kind }) => (kind === 'embedder' ? 'embedder' : 'language model'),
    size: ({ bytes }) => megabytes(bytes),
    licence: ({ licence }) => licence,
    'in the cache': ({ kept }) => inCache[kept],
    parameters: ({ parameters }) => parameters && `${(parameters / 1e6).toFixed(1)} M`,
    window: ({ windowTokens }) => (windowTokens === null ? null : groupedNumber(windowTokens)),
    weights: ({ weights }) => sharesText(weights ?? []) || null,
    measured: ({ measured }) => measured,
    embedder: ({ embedder }) => embedder,
    prompt: ({ asked }) => asked && promptFormText(asked),
  });
}

/** `Q4_K 68 %, Q6_K 32 %`, without shares that round to 0 %. */
function sharesText(weights: NonNullable<ShownModel['weights']>): string {
  const shown = weights.map(({ type, share }) => ({ type, percent: Math.round(100 * share) }));
  return shown.flatMap(({ type, percent }) => (percent === 0 ? [] : `${type} ${percent} %`)).join(', ');
}

/** `chat template, answer begins "According to your notes,"` */
export function promptFormText({ template, answerPrefix }: NonNullable<ShownModel['asked']>): string {
  const form = template === 'chat' ? 'chat template' : 'plain form';
  if (answerPrefix === 'none') return form;
  return `${form}, answer begins ${answerPrefix === 'item' ? "with the item's own words" : `"${answerPrefix}"`}`;
}
