/**
 * The model of a section of a page: a heading over texts, lists, tables, bars and token spans. `section-html.ts` draws it for
 * pages, `section-terminal.ts` for the terminal. Both escape its texts, which may come from users and models.
 */

export type Look = 'good' | 'bad' | 'soft' | 'strong' | 'code' | 'mono' | 'inserted' | 'deleted' | 'marked';

export interface Phrase {
  readonly text: string;
  readonly look?: Look;
  /** Tooltip on HTML pages. */
  readonly title?: string;
  /** Limit in bytes of HTML; a longer text is cut, with a remark. */
  readonly most?: number;
}

/** A line of text, in parts that may look different. */
export type Content = string | Phrase | readonly (string | Phrase)[];

/** A part of a bar. Its start and its length are shares of the bar, 0 to 1. */
export interface BarPart {
  readonly look: string;
  readonly start: number;
  readonly share: number;
}

/** A cell of a table. In a column of kind `bar` a bar stands beside the number. */
export interface SectionCell {
  readonly content: Content;
  readonly bar?: readonly BarPart[];
}

/** A column of a table; a `wrap` column holds long texts. */
export interface SectionColumn {
  readonly heading: string;
  readonly kind: 'text' | 'number' | 'wrap' | 'bar';
}

export interface SectionTable {
  readonly kind: 'table';
  /** What the rows are, for remarks: `memories`. */
  readonly what: string;
  readonly rowHeading: string;
  readonly columns: readonly SectionColumn[];
  /** Every row has one cell per column. */
  readonly rows: readonly { readonly label: Content; readonly cells: readonly SectionCell[]; readonly look?: string }[];
  readonly most?: number;
}

/** A piece of a text and its tokens: several if they share the bytes of one character. */
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
  /** Called only for segments that are shown. One span holds the whole text if the texts of the tokens are unknown. */
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
  /** A long text, folded on HTML pages. */
  | { readonly kind: 'details'; readonly summary: string; readonly text: string; readonly most: number };

/** A step of a funnel; those after a failed one are `unknown`. */
export interface Step {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'unknown';
}

export const stepMarks: Readonly<Record<Step['state'], string>> = { passed: '✓', failed: '✗', unknown: '·' };

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
  const parts = typeof content === 'string' || 'text' in content ? [content] : content;
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part));
}

export const plainText = (content: Content): string =>
  phrases(content)
    .map(({ text }) => text)
    .join('');

/** Columns by heading. */
export const sectionColumns = (kinds: Readonly<Record<string, SectionColumn['kind']>>): readonly SectionColumn[] =>
  Object.entries(kinds).map(([heading, kind]) => ({ heading, kind }));

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
