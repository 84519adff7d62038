import type { TopLevelSpec } from 'vega-lite';
import { printable, printableJson } from '../../render/printable.ts';
import type { Figure } from './figure.ts';
import { theme } from './theme.ts';

const SCHEMA = 'https://vega.github.io/schema/vega-lite/v6.json';

/** Width of a text by its characters, em: that of a wide system font, so that nothing is cut, and the same on every machine. */
function widthEm(text: string): number {
  let width = 0;
  for (const character of text)
    width += /[\u1100-\uffff]/u.test(character) ? 1 : /[ilj.,:;'|[\]() ]/.test(character) ? 0.36 : 0.62;
  return width;
}

/** The whole specification of a figure: Vega-Lite with its data inside and the theme of all figures. */
function specificationOf({ title, description, key, spec }: Figure): TopLevelSpec {
  const below = { text: linesOf(key), orient: 'bottom' as const };
  return { $schema: SCHEMA, description, usermeta: { title }, title: below, ...spec, config: theme };
}

/** Characters of a line below a figure, as wide as the narrowest. */
const LINE = 46;

function linesOf(text: string): string[] {
  const lines: string[] = [];
  // A number and its sign stay together.
  for (const word of text.replaceAll(/(\d) %/g, '$1\u00a0%').split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < LINE) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
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
