import type { Config, TopLevelSpec } from 'vega-lite';
import { csvText, textField } from './table-csv.ts';
import { printable, printableJson } from './escape-control-characters.ts';
import { wrapText } from './terminal-text.ts';

/** A row of data: one value per field, null for none. All rows of a figure have the same fields. */
export type FigureRow = Readonly<Record<string, string | number | null>>;

export type FigureSpec = Readonly<Record<string, unknown>>;

export interface Figure {
  readonly id: string;
  readonly title: string;
  /** The content in words, for screen readers. */
  readonly description: string;
  /** Explains the marks; shown below the figure. */
  readonly key: string;
  /** Characters in a line of the key; by default what a phone shows. */
  readonly keyWidth?: number;
  readonly data: readonly FigureRow[];
  /** Vega-Lite specification without data and theme; Vega-Lite checks it on compilation. */
  readonly spec: FigureSpec;
}

/** Inner widths in px: of a panel that fills the screen of a phone, and of one of two panels side by side. */
export const PANEL_WIDTH = 316;
export const HALF_PANEL_WIDTH = 138;

const ink = 'currentColor';

/** Theme of all figures. Marks take the colour of the surrounding text, which suits light pages, dark pages and print. */
const theme: Config = {
  background: 'transparent',
  font: 'system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, sans-serif',
  padding: 4,
  view: { stroke: null },
  // The figure has one description; Vega would describe every mark.
  mark: { aria: false },
  axis: {
    aria: false,
    labelColor: ink,
    titleColor: ink,
    domainColor: ink,
    tickColor: ink,
    gridColor: ink,
    gridOpacity: 0.14,
    domainOpacity: 0.6,
    tickOpacity: 0.6,
    tickSize: 4,
    labelFontSize: 11,
    titleFontSize: 11.5,
    titleFontWeight: 'normal',
    titlePadding: 6,
    labelOverlap: true,
    labelSeparation: 6,
  },
  axisX: { grid: false },
  header: { labelColor: ink, titleColor: ink, labelFontSize: 11.5, labelFontWeight: 600, labelPadding: 4 },
  legend: {
    aria: false,
    symbolOpacity: 1,
    orient: 'bottom',
    direction: 'horizontal',
    columns: 4,
    labelColor: ink,
    titleColor: ink,
    labelFontSize: 11.5,
    symbolSize: 60,
    symbolStrokeWidth: 1.2,
    columnPadding: 10,
    rowPadding: 3,
    labelLimit: 0,
    symbolLimit: 0,
    offset: 8,
  },
  text: { color: ink, fontSize: 11 },
  // The key below a figure.
  title: { color: ink, fontSize: 11, fontWeight: 'normal', anchor: 'start', offset: 6, lineHeight: 14 },
  point: { filled: true, size: 42, opacity: 1 },
  line: { strokeWidth: 1.6 },
  rule: { strokeWidth: 1.2 },
};

function specification({ title, description, key, keyWidth = 46, data, spec }: Figure): TopLevelSpec {
  // Keeps a number and its % on one line.
  const keyText = key.replaceAll(/(\d) %/g, '$1\u00a0%');
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    description,
    usermeta: { title },
    title: { text: wrapText(keyText, keyWidth), orient: 'bottom' },
    data: { values: [...data] },
    ...spec,
    config: theme,
  } as unknown as TopLevelSpec;
}

export const renderSpecification = (figure: Figure): string => printableJson(specification(figure));

export function renderFigureData({ data }: Figure): string {
  const fields = Object.keys(data[0]!);
  const text = (value: string | number | null | undefined) =>
    typeof value === 'number' ? String(value) : textField(value ?? '');
  return csvText([fields, ...data.map((row) => fields.map((field) => text(row[field])))]);
}

/** Estimated width of a text in em, the same on every machine. Assumes a wide font, so that no label is cut. */
function widthEm(text: string): number {
  let width = 0;
  for (const character of text)
    width += /[\u1100-\uffff]/u.test(character) ? 1 : /[ilj.,:;'|[\]() ]/.test(character) ? 0.36 : 0.62;
  return width;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Measures texts in Vega; missing in its types. `renderFigure` replaces `width` so that SVGs do not depend on fonts. */
interface TextMetrics {
  width: (item: { readonly text?: string | number; readonly fontSize?: number }, text?: string) => number;
}

/** Draws a figure as SVG, with title and description. The same data give the same bytes. */
export async function renderFigure(figure: Figure): Promise<string> {
  // Imported only here: Vega loads slowly, and most commands draw no figure.
  const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
  const { textMetrics } = vega as unknown as { readonly textMetrics: TextMetrics };
  textMetrics.width = (item, text) => widthEm(String(text ?? item.text ?? '')) * (item.fontSize ?? 11);
  vega.resetSVGDefIds();
  const { spec } = vegaLite.compile(specification(figure));
  const view = new vega.View(vega.parse(spec), { renderer: 'none' });
  try {
    const words = `<title>${escape(figure.title)}</title><desc>${escape(figure.description)}</desc>`;
    // Names of arms come from users and may hold control characters.
    return printable((await view.toSVG()).replace('>', () => ` role="img">${words}`));
  } finally {
    view.finalize();
  }
}

const standaloneStyle = '<style>svg{color:#1c1e21}@media(prefers-color-scheme:dark){svg{color:#e7e9ec}}</style>';

export const pictureFile = (svg: string): string => `${svg.replace('</desc>', () => `</desc>${standaloneStyle}`)}\n`;
