import type { Estimate, RunResults } from '../store/records/results.ts';

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
      /** Items, or pairs of them, and users; missing where the estimate does not say. */
      readonly n?: number;
      readonly users?: number;
    };

/** A column of a table. */
export interface Column {
  /** The name of the column for programs. */
  readonly key: string;
  readonly heading: string;
  readonly unit?: string;
  readonly align: 'left' | 'right';
  /** Its cells are values with a 95 % interval, which take three columns in formats with one number a cell. */
  readonly interval?: true;
  /** Its cells are sentences, broken into lines on a narrow page. */
  readonly sentence?: true;
}

/** Columns that are shown together; on a narrow or printed page, blocks stand below one another. */
export interface Block {
  readonly title?: string;
  readonly columns: readonly Column[];
}

/** A row of a table. */
export interface Row {
  readonly label: string;
  /** By key of the column; a missing cell has no value. */
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

/** A cell without a value. */
export const none: Cell = { kind: 'none' };

/** A cell with a text. */
export function textCell(text: string): Cell {
  return { kind: 'text', text };
}

/** A cell with a whole number. */
export function countCell(value: number): Cell {
  return { kind: 'number', value, digits: 0 };
}

/** A cell with a mean, to one decimal. */
export function meanCell(value: number | undefined): Cell {
  return value === undefined ? none : { kind: 'number', value, digits: 1 };
}

/** A cell with an estimate and its interval, to one decimal or more; `scale` 100 makes a share a percentage. */
export function estimateCell(
  estimate: (Pick<Estimate, 'mean' | 'low' | 'high'> & Partial<Pick<Estimate, 'n' | 'users'>>) | null | undefined,
  scale: 1 | 100 = 1,
  digits = 1,
): Cell {
  if (estimate === null || estimate === undefined) return none;
  const { mean, low, high, n, users } = estimate;
  return {
    ...{ kind: 'interval', value: mean * scale, low: low * scale, high: high * scale, digits },
    ...(n === undefined ? {} : { n }),
    ...(users === undefined ? {} : { users }),
  };
}

/** A cell of quality; it holds the reason instead if the run gives no quality. */
export function qualityCell({ unknownQuality }: RunResults['run'], cell: Cell): Cell {
  return unknownQuality === null ? cell : textCell(unknownQuality);
}

/** A number for readers: `1234.5`, with a true minus sign, and never `−0.0`; `–` if it is not finite. */
export function formatNumber(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–';
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

/** How large a model is, in words. */
export function modelSize({ parameters }: { readonly parameters: number | null }): string {
  return parameters === null
    ? 'a size that its engine does not show'
    : `${formatNumber(parameters / 1e6, 1)} million parameters`;
}

/** A cell for readers: `97.2 [95.1, 98.6]`, `–` without a value. */
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

/** How far an unfinished run has come: `UNFINISHED: 3 of 20 users, 1234 of 2640 turns`. */
export function progressText({ users, ofUsers, turns, ofTurns }: NonNullable<RunResults['run']['progress']>): string {
  return `UNFINISHED: ${users} of ${ofUsers} users, ${turns} of ${ofTurns} turns`;
}

/** The reason why the numbers of a run must not be quoted; undefined if it is finished and no check failed. */
export function lackOfProof({ run, checks }: Pick<RunResults, 'run' | 'checks'>): string | undefined {
  const failed = checks.filter(({ status }) => status === 'failed').map(({ check }) => check);
  const lacks = [
    ...(failed.length > 0
      ? [`NOT PROVEN: ${failed.length === 1 ? 'check' : 'checks'} ${failed.join(', ')} failed`]
      : []),
    ...(run.progress === undefined ? [] : [progressText(run.progress)]),
    ...(run.settings['shard'] === undefined ? [] : [`SHARD ${run.settings['shard'] as string}: a part of the run`]),
  ];
  if (lacks.length > 0) return lacks.join('; ');
  return run.status === 'finished' ? undefined : `NOT COMPLETE: the run was ${run.status}`;
}

/** `Unproven: negative controls (none has 20 closed items, 30 needed).`, with every check that could not be decided; undefined without one. */
export function undecidedChecks({ checks }: Pick<RunResults, 'checks'>): string | undefined {
  const undecided = checks
    .filter(({ status }) => status === 'undecided')
    .map(({ check, evidence }) => `${check} (${evidence.split(/[:;]/, 1)[0]!})`);
  return undecided.length === 0 ? undefined : `Unproven: ${undecided.join('; ')}.`;
}

/** A caption, marked if the numbers must not be quoted. */
export function captionOf(title: string, results: Pick<RunResults, 'run' | 'checks'>): string {
  const lack = lackOfProof(results);
  return lack === undefined ? title : `${title} (${lack})`;
}
