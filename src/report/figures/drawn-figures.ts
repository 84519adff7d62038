import { onceFor } from '../../base/once-for.ts';
import type { RunResults } from '../../store/records/results.ts';
import { csvText } from '../../render/csv.ts';
import { printable } from '../../render/printable.ts';
import type { Figure } from './figure.ts';
import { renderFigure, renderSpecification } from './render-figure.ts';
import { reportFigures } from './report-figures.ts';

/** A figure with its picture. */
export interface DrawnFigure {
  readonly figure: Figure;
  /** In the colour of the text around it. */
  readonly svg: string;
}

/**
 * Draws the figures of a run, once for the same results: they are in files of their own, in the page of the run and in that of
 * its group.
 */
export const drawnFigures = onceFor(async (results: RunResults): Promise<readonly DrawnFigure[]> => {
  const figures: DrawnFigure[] = [];
  for (const figure of reportFigures(results)) figures.push({ figure, svg: await renderFigure(figure) });
  return figures;
});

/** The colour of a picture that stands alone, without text around it. */
const alone = '<style>svg{color:#1c1e21}@media(prefers-color-scheme:dark){svg{color:#e7e9ec}}</style>';

/** A picture as a file of its own. */
export const pictureFile = (svg: string): string => `${svg.replace('</desc>', () => `</desc>${alone}`)}\n`;

/** The data of a figure as CSV, a column for each field. */
function dataOf({ data }: Figure): string {
  const fields = Object.keys(data[0]!);
  const text = (value: string | number | null | undefined) => (value === null ? '' : printable(String(value)));
  return csvText([fields, ...data.map((row) => fields.map((field) => text(row[field])))]);
}

/** The files of a run's figures: the picture, its Vega-Lite specification and its data, by path within the report. */
export async function figureFiles(results: RunResults): Promise<(readonly [path: string, content: string])[]> {
  return (await drawnFigures(results)).flatMap(({ figure, svg }) => [
    [`figures/${figure.id}.svg`, pictureFile(svg)] as const,
    [`figures/${figure.id}.vl.json`, renderSpecification(figure)] as const,
    [`figures/${figure.id}.csv`, dataOf(figure)] as const,
  ]);
}
