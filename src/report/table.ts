import type { Estimate, RunResults } from '../eval/results.ts';

/** A value of a table, in the unit of its column. */
export type Cell =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number; readonly digits: number }
  | {
      readonly kind: 'interval';
      readonly value: number;
      readonly low: number;
      readonly high: number;
      readonly digits: number;
    };

export interface Column {
  /** The name of the column for programs. */
  readonly key: string;
  readonly heading: string;
  readonly unit?: string;
  readonly align: 'left' | 'right';
  /** Its cells are values with a 95 % interval, which take three columns where a cell is one number. */
  readonly interval?: true;
  /** Its cells are sentences, broken into lines where the page is narrow. */
  readonly sentence?: true;
}

/** Columns that are shown together; on a narrow page, or a printed one, the blocks stand below one another. */
export interface Block {
  readonly title?: string;
  readonly columns: readonly Column[];
}

export interface Row {
  readonly label: string;
  /** By key of the column; one that is missing has no value. */
  readonly cells: Readonly<Record<string, Cell>>;
}

/** A table before it is drawn: every format is drawn from the same one. */
export interface Table {
  /** Its name as a file. */
  readonly id: string;
  readonly caption: string;
  /** Heading of the labels of the rows. */
  readonly rowHeading: string;
  readonly blocks: readonly Block[];
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export const none: Cell = { kind: 'none' };

export function textCell(text: string): Cell {
  return { kind: 'text', text };
}

export function countCell(value: number): Cell {
  return { kind: 'number', value, digits: 0 };
}

/** A mean with one decimal. */
export function meanCell(value: number | undefined): Cell {
  return value === undefined ? none : { kind: 'number', value, digits: 1 };
}

/** An estimate with its interval and one decimal; `scale` 100 makes a share a percentage. */
export function estimateCell(
  estimate: Pick<Estimate, 'mean' | 'low' | 'high'> | null | undefined,
  scale: 1 | 100 = 1,
): Cell {
  if (estimate === null || estimate === undefined) return none;
  const { mean, low, high } = estimate;
  return { kind: 'interval', value: mean * scale, low: low * scale, high: high * scale, digits: 1 };
}

/** A cell of quality: the reason in its place where the run can give no number for it. */
export function qualityCell({ unknownQuality }: RunResults['run'], cell: Cell): Cell {
  return unknownQuality === null ? cell : textCell(unknownQuality);
}

/** A number for people: `1234.5`, with a true minus sign, and never `−0.0`; `–` where it is not finite. */
export function formatNumber(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–';
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

/** A cell for people: `97.2 [95.1, 98.6]`, `–` where there is no value. */
export function formatCell(cell: Cell | undefined): string {
  if (cell === undefined) return '–';
  switch (cell.kind) {
    case 'none':
      return '–';
    case 'text':
      return cell.text;
    case 'number':
      return formatNumber(cell.value, cell.digits);
    case 'interval': {
      const [value, low, high] = [cell.value, cell.low, cell.high].map((part) => formatNumber(part, cell.digits));
      return `${value} [${low}, ${high}]`;
    }
  }
}

/** `exact match, %` */
export function headingOf(column: Column): string {
  return column.unit === undefined ? column.heading : `${column.heading}, ${column.unit}`;
}

/** What keeps a run's numbers from being quoted, or undefined where all its gates hold and it came to its end. */
export function lackOfProof(results: Pick<RunResults, 'run' | 'gates'>): string | undefined {
  const failed = results.gates.filter((gate) => !gate.held).map((gate) => gate.gate);
  if (failed.length > 0) return `NOT PROVEN: ${failed.length === 1 ? 'gate' : 'gates'} ${failed.join(', ')} failed`;
  return results.run.status === 'finished' ? undefined : `NOT COMPLETE: the run was ${results.run.status}`;
}

/** The caption, marked where the numbers are not proven. */
export function captionOf(title: string, results: Pick<RunResults, 'run' | 'gates'>): string {
  const lack = lackOfProof(results);
  return lack === undefined ? title : `${title} (${lack})`;
}
