import type { TopLevelSpec } from 'vega-lite';
import type { Estimate, RunResults } from '../../eval/results.ts';
import { captionOf, formatNumber } from '../table.ts';

/** One value a field; null where there is none. All rows of a figure have the same fields. */
export type FigureRow = Readonly<Record<string, string | number | null>>;

/** A figure before it is drawn. */
export interface Figure {
  /** Its name as a file. */
  readonly id: string;
  readonly title: string;
  /** What it shows, in words, for those who do not see it. */
  readonly description: string;
  /** What is drawn, and nothing else. */
  readonly data: readonly FigureRow[];
  /** Vega-Lite with the data inside, without the theme that all figures share. */
  readonly spec: TopLevelSpec;
}

/** A figure of a run, marked where its numbers are not proven. */
export function figureOf(results: RunResults, figure: Figure): Figure {
  return { ...figure, title: captionOf(figure.title, results) };
}

/** The data of a figure as its specification holds them. */
export function inlineData(rows: readonly FigureRow[]): { readonly values: FigureRow[] } {
  return { values: [...rows] };
}

/** The fields of an estimate; `low` and `high` are null where it has no interval. `scale` 100 makes a share a percentage. */
export function estimateFields(
  { mean, low, high }: Pick<Estimate, 'mean' | 'low' | 'high'>,
  scale: 1 | 100 = 1,
): { readonly value: number; readonly low: number | null; readonly high: number | null } {
  // A stored result has null where the bound was infinite.
  const bounded = Number.isFinite(low) && Number.isFinite(high);
  return { value: mean * scale, low: bounded ? low * scale : null, high: bounded ? high * scale : null };
}

/** `97.2 [95.4, 99.0]`, or the value alone. */
export function inWords({ value, low, high }: ReturnType<typeof estimateFields>, unit: string): string {
  const interval = low === null || high === null ? '' : ` [${formatNumber(low, 1)}, ${formatNumber(high, 1)}]`;
  return `${formatNumber(value, 1)}${interval} ${unit}`;
}
