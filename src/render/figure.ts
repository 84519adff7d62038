import type { Config, TopLevelSpec } from 'vega-lite';
import { csvText } from './table-csv.ts';
import { printable, printableJson } from './printable.ts';
import { wrapText } from './wrap-text.ts';

/** A row of data: one value per field, null for none. All rows of a figure have the same fields. */
export type FigureRow = Readonly<Record<string, string | number | null>>;

export type FigureSpec = Readonly<Record<string, unknown>>;

export interface Figure {
  readonly id: string;
  readonly title: string;
  /** The content in words, for readers who do not see it. */
  readonly description: string;
  /** The meaning of its marks, shown below it. */
  readonly key: string;
  readonly data: readonly FigureRow[];
  /** Vega-Lite without its data and without the theme of all figures; checked when it is compiled. */
  readonly spec: FigureSpec;
}

/** Inner widths of a panel of full width, for a telephone, and of one of two side by side, px. */
export const PANEL_WIDTH = 316;
export const HALF_PANEL_WIDTH = 138;

const ink = 'currentColor';

/** Configuration of all figures: the colour of the text around serves light pages, dark pages and print. */
const theme: Config = {
  background: 'transparent',
  font: 'system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, sans-serif',
  padding: 4,
  view: { stroke: null },
  // The picture has one description, not one for each mark.
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
    offset: 8,
  },
  text: { color: ink, fontSize: 11 },
  // The key below a figure.
  title: { color: ink, fontSize: 11, fontWeight: 'normal', anchor: 'start', offset: 6, lineHeight: 14 },
  point: { filled: true, size: 42, opacity: 1 },
  line: { strokeWidth: 1.6 },
  rule: { strokeWidth: 1.2 },
};

const KEY_WIDTH = 46;

function specification({ title, description, key, data, spec }: Figure): TopLevelSpec {
  // A number and its sign stay together.
  const keyText = key.replaceAll(/(\d) %/g, '$1\u00a0%');
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    description,
    usermeta: { title },
    title: { text: wrapText(keyText, KEY_WIDTH), orient: 'bottom' },
    data: { values: [...data] },
    ...spec,
    config: theme,
  } as unknown as TopLevelSpec;
}

export function renderSpecification(figure: Figure): string {
  return printableJson(specification(figure));
}

export function renderFigureData({ data }: Figure): string {
  const fields = Object.keys(data[0]!);
  const text = (value: string | number | null | undefined) => (value === null ? '' : printable(String(value)));
  return csvText([fields, ...data.map((row) => fields.map((field) => text(row[field])))]);
}

/** Width of a text by its characters, em: that of a wide system font, so that nothing is cut, and the same on every machine. */
function widthEm(text: string): number {
  let width = 0;
  for (const character of text)
    width += /[\u1100-\uffff]/u.test(character) ? 1 : /[ilj.,:;'|[\]() ]/.test(character) ? 0.36 : 0.62;
  return width;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Vega's measure of texts, which its types omit; replaced, so that pictures depend on no canvas and no fonts. */
interface TextMetrics {
  width: (item: { readonly text?: string | number; readonly fontSize?: number }, text?: string) => number;
}

/** Draws a figure as SVG, with title and description: the same bytes for the same data. */
export async function renderFigure(figure: Figure): Promise<string> {
  // The library is slow to load, and most commands draw nothing.
  const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
  const { textMetrics } = vega as unknown as { readonly textMetrics: TextMetrics };
  textMetrics.width = (item, text) => widthEm(String(text ?? item.text ?? '')) * (item.fontSize ?? 11);
  vega.resetSVGDefIds();
  const { spec } = vegaLite.compile(specification(figure));
  const view = new vega.View(vega.parse(spec), { renderer: 'none' });
  try {
    const words = `<title>${escape(figure.title)}</title><desc>${escape(figure.description)}</desc>`;
    // Names of arms come from data.
    return printable((await view.toSVG()).replace('>', () => ` role="img">${words}`));
  } finally {
    view.finalize();
  }
}

const alone = '<style>svg{color:#1c1e21}@media(prefers-color-scheme:dark){svg{color:#e7e9ec}}</style>';

export const pictureFile = (svg: string): string => `${svg.replace('</desc>', () => `</desc>${alone}`)}\n`;
