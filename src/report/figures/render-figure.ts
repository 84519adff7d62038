import type { TopLevelSpec } from 'vega-lite';
import { printable, printableJson } from '../render/printable.ts';
import type { Figure } from './figure.ts';
import { theme } from './theme.ts';

const SCHEMA = 'https://vega.github.io/schema/vega-lite/v6.json';

/** Width of a text by its characters, em: near to the system fonts, and the same on every machine. */
function widthEm(text: string): number {
  let width = 0;
  for (const character of text)
    width += /[\u1100-\uffff]/u.test(character) ? 1 : /[ilj.,:;'|[\]() ]/.test(character) ? 0.32 : 0.56;
  return width;
}

/** The whole specification of a figure: Vega-Lite with its data inside and the theme of all figures. */
function specificationOf({ title, description, spec }: Figure): TopLevelSpec {
  return { $schema: SCHEMA, description, usermeta: { title }, ...spec, config: theme };
}

/** The specification as a file. */
export function renderSpecification(figure: Figure): string {
  return printableJson(specificationOf(figure));
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Vega's measure of texts, which its types omit; replaced, so that pictures depend on no canvas and no fonts. */
interface TextMetrics {
  width: (item: { readonly text?: string | number; readonly fontSize?: number }, text?: string) => number;
}

/**
 * Draws a figure as SVG: the same bytes for the same data, in the colour of the text around it. It contains title and
 * description, for readers who do not see it.
 */
export async function renderFigure(figure: Figure): Promise<string> {
  // The library is slow to load, and most verbs draw nothing.
  const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
  const { textMetrics } = vega as unknown as { readonly textMetrics: TextMetrics };
  textMetrics.width = (item, text) => widthEm(String(text ?? item.text ?? '')) * (item.fontSize ?? 11);
  vega.resetSVGDefIds();
  const { spec } = vegaLite.compile(specificationOf(figure));
  const view = new vega.View(vega.parse(spec), { renderer: 'none' });
  try {
    const words = `<title>${escaped(figure.title)}</title><desc>${escaped(figure.description)}</desc>`;
    // Names of arms come from data.
    return printable((await view.toSVG()).replace('>', () => ` role="img">${words}`));
  } finally {
    view.finalize();
  }
}
