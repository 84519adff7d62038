/**
 * The model of a section of a page: a heading over texts, lists, tables, bars and token spans. `section-html.ts` draws it for
 * pages, `section-terminal.ts` for the terminal. Texts may come from data: both make them safe.
 */

export type Look = 'good' | 'bad' | 'soft' | 'strong' | 'code' | 'mono' | 'inserted' | 'deleted' | 'marked';

export interface Phrase {
  readonly text: string;
  readonly look?: Look;
  /** An explanation for pages, shown when pointed at. */
  readonly title?: string;
  /** Bytes of a page that a long text may take; the rest is left out with a remark. */
  readonly most?: number;
}

/** A line of text, in parts that may look different. */
export type Content = string | Phrase | readonly (string | Phrase)[];

/** A part of a bar: its start and its length are shares of the whole. */
export interface BarPart {
  readonly look: string;
  readonly start: number;
  readonly share: number;
}

/** A cell of a table; of a column of kind `bar`, a number with a bar beside it. */
export interface SectionCell {
  readonly content: Content;
  readonly bar?: readonly BarPart[];
}

/** A column of a table; a `wrap` column holds long texts. */
export interface SectionColumn {
  readonly heading: string;
  readonly kind: 'text' | 'number' | 'wrap' | 'bar';
  /** Measured anew in every turn: a difference between two turns says nothing. */
  readonly measured?: true;
}

export interface SectionTable {
  readonly kind: 'table';
  /** Names the rows in remarks: `memories`. */
  readonly what: string;
  readonly rowHeading: string;
  readonly columns: readonly SectionColumn[];
  /** Each with a cell for every column. */
  readonly rows: readonly { readonly label: Content; readonly cells: readonly SectionCell[]; readonly look?: string }[];
  readonly most?: number;
}

/** A stretch of a text and the tokens that make it: several if each holds a part of one character. */
export interface TokenSpan {
  readonly text: string;
  readonly ids: readonly number[];
}

export interface SectionSegment {
  readonly name: string;
  readonly kind: 'system' | 'memory' | 'history' | 'query';
  readonly injected: boolean;
  readonly tokens: number;
  readonly place: string;
  readonly text: string;
  /** Computed for segments that are shown; empty if the tokens' texts are not known. */
  readonly spans: () => readonly TokenSpan[];
}

export type SectionBlock =
  | SectionTable
  | { readonly kind: 'heading'; readonly id: string; readonly text: string }
  | { readonly kind: 'text'; readonly content: Content; readonly look?: 'soft' | 'bad' }
  /** A remark that the terminal leaves out. */
  | { readonly kind: 'note'; readonly content: Content }
  | { readonly kind: 'pairs'; readonly rows: readonly (readonly [name: string, content: Content])[] }
  | { readonly kind: 'list'; readonly items: readonly Content[]; readonly what: string; readonly most: number }
  | { readonly kind: 'steps'; readonly steps: readonly Step[] }
  /** Parts of a whole with their weights, as a bar and its legend. */
  | { readonly kind: 'shares'; readonly parts: readonly Share[] }
  | { readonly kind: 'segments'; readonly segments: readonly SectionSegment[]; readonly hasSpans: boolean }
  /** A long text that a page folds away. */
  | { readonly kind: 'details'; readonly summary: string; readonly text: string; readonly most: number };

/** A step that was passed or failed; `unknown` after one that failed. */
export interface Step {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'unknown';
}

export interface Share {
  readonly name: string;
  readonly look: string;
  readonly mark: string;
  readonly weight: number;
}

export interface Section {
  readonly id: string;
  readonly heading: string;
  readonly blocks: readonly SectionBlock[];
}

export function phrases(content: Content): readonly Phrase[] {
  const parts =
    typeof content === 'object' && 'text' in content ? [content] : typeof content === 'string' ? [content] : content;
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part));
}

export const plainText = (content: Content): string =>
  phrases(content)
    .map(({ text }) => text)
    .join('');

/** Columns by heading. A `measured` one is of numbers that are measured anew in every turn. */
export const sectionColumns = (
  kinds: Readonly<Record<string, SectionColumn['kind'] | 'measured'>>,
): readonly SectionColumn[] =>
  Object.entries(kinds).map(([heading, kind]) =>
    kind === 'measured' ? { heading, kind: 'number', measured: true } : { heading, kind },
  );

/** A cell with a number and a bar from `start` to `start + share`. */
export const barCell = (content: Content, look: string, share: number, start = 0): SectionCell => ({
  content,
  bar: [{ look, start, share }],
});

/** A text block, or nothing for an empty text. */
export function textBlocks(text: string | undefined, look?: 'soft' | 'bad'): SectionBlock[] {
  if (text === undefined || text === '') return [];
  return [look === undefined ? { kind: 'text', content: text } : { kind: 'text', content: text, look }];
}
