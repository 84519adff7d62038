import type { TopLevelSpec } from 'vega-lite';
import type { Estimate, RunResults } from '../../store/records/results.ts';
import { captionOf, formatNumber } from '../../render/table.ts';

/** A row of data: one value a field, null for none. All rows of a figure have the same fields. */
export type FigureRow = Readonly<Record<string, string | number | null>>;

/** A figure before it is drawn. */
export interface Figure {
  /** Its name as a file. */
  readonly id: string;
  readonly title: string;
  /** The content in words, for readers who do not see it. */
  readonly description: string;
  /** The meaning of its marks, below it: `points: means; lines: 95 % intervals`. */
  readonly key: string;
  /** The drawn data, and no others. */
  readonly data: readonly FigureRow[];
  /** Vega-Lite with the data inside, without the theme that all figures share. */
  readonly spec: TopLevelSpec;
}

/** Marks the title of a figure if the numbers of the run must not be quoted. */
export function figureOf(results: RunResults, figure: Figure): Figure {
  return { ...figure, title: captionOf(figure.title, results) };
}

/** The key of figures whose points have intervals. */
export const MEANS = 'Points are means, lines their 95 % intervals.';

/** The data of a figure in the form of its specification. */
export function inlineData(rows: readonly FigureRow[]): { readonly values: FigureRow[] } {
  return { values: [...rows] };
}

/** The fields of an estimate; `low` and `high` are null without an interval. `scale` 100 makes a share a percentage. */
export function estimateFields(
  { mean, low, high }: Pick<Estimate, 'mean' | 'low' | 'high'>,
  scale: 1 | 100 = 1,
): { readonly value: number; readonly low: number | null; readonly high: number | null } {
  // A stored result has null for an infinite bound.
  const bounded = Number.isFinite(low) && Number.isFinite(high);
  return { value: mean * scale, low: bounded ? low * scale : null, high: bounded ? high * scale : null };
}

/** `97.2 [95.4, 99.0]`, or the value alone. */
export function inWords({ value, low, high }: ReturnType<typeof estimateFields>, unit: string): string {
  const interval = low === null || high === null ? '' : ` [${formatNumber(low, 1)}, ${formatNumber(high, 1)}]`;
  return `${formatNumber(value, 1)}${interval} ${unit}`;
}
