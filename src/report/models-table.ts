import { none, type Table, textCell } from '../render/table.ts';

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

const IN_CACHE = { ships: 'ships', whole: 'yes', 'in part': 'in part', absent: 'no' } as const;

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
    blocks: [
      {
        columns: [
          { key: 'kind', heading: 'kind', align: 'left' },
          { key: 'size', heading: 'size', align: 'right' },
          { key: 'licence', heading: 'licence', align: 'left' },
          { key: 'kept', heading: 'in the cache', align: 'left' },
          { key: 'embedder', heading: 'embedder', align: 'left' },
          { key: 'asked', heading: 'asked', align: 'left' },
        ],
      },
    ],
    rows: models.map(({ name, kind, bytes, licence, kept, asked, embedder }) => ({
      label: name,
      cells: {
        kind: textCell(kind === 'embedder' ? 'embedder' : 'language model'),
        size: textCell(megabytes(bytes)),
        licence: licence === null ? none : textCell(licence),
        kept: textCell(IN_CACHE[kept]),
        embedder: embedder === null ? none : textCell(embedder),
        asked: asked === null ? none : textCell(askedInWords(asked)),
      },
    })),
    notes: [],
  };
}

/** `chat template, answer begins "According to your notes,"` */
export function askedInWords({ template, answerPrefix }: NonNullable<ShownModel['asked']>): string {
  const form = template === 'chat' ? 'chat template' : 'plain form';
  if (answerPrefix === 'none') return form;
  return `${form}, answer begins ${answerPrefix === 'item' ? "with the item's own words" : `"${answerPrefix}"`}`;
}
