/**
 * The model of a table; each `table-*.ts` of this folder renders it in one format, and `figure.ts` draws figures.
 * Nothing here knows what a run is.
 */
import { present } from '../base/present.ts';
import type { Estimate } from '../store/records/estimate.ts';
import { type Difference, formatInterval, formatNumber } from './format-number.ts';

/** A value of a table, in the unit of its column; undefined where there is none. */
export type Cell =
  | undefined
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number; readonly digits: number }
  | {
      readonly kind: 'interval';
      readonly value: number;
      readonly low: number;
      readonly high: number;
      readonly digits: number;
      /** Numbers of items (or pairs of items) and users behind the estimate; undefined if unknown. */
      readonly n?: number | undefined;
      readonly users?: number | undefined;
    };

export interface Column {
  readonly key: string;
  /** Name for readers, with the unit in parentheses: `exact match (%)`. */
  readonly heading: string;
  /** A `sentence` is wrapped on a narrow page; an `interval` takes three columns in CSV. */
  readonly kind: 'text' | 'sentence' | 'number' | 'interval';
}

/** Columns that are shown together; on a narrow or printed page, blocks stand below one another. */
export interface Block {
  readonly title?: string;
  readonly columns: readonly Column[];
}

export interface Row {
  readonly label: string;
  /** By key of the column. */
  readonly cells: Readonly<Record<string, Cell>>;
}

export interface Table {
  readonly id: string;
  readonly caption: string;
  readonly rowHeading: string;
  readonly blocks: readonly Block[];
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export interface ItemColumn<Item> extends Column {
  readonly cell: (item: Item) => Cell;
}

export interface ItemBlock<Item> extends Omit<Block, 'columns'> {
  readonly columns: readonly ItemColumn<Item>[];
}

/** Columns under a title; those that are false are left out. */
export function titled<Item>(title: string, columns: readonly (ItemColumn<Item> | false)[]): ItemBlock<Item> {
  return { title, columns: present(columns) };
}

type Text = string | null | undefined;

export function textColumn<Item>(key: string, heading: string, value: (item: Item) => Text): ItemColumn<Item> {
  return { key, heading, kind: 'text', cell: (item) => textCell(value(item)) };
}

export function sentenceColumn<Item>(key: string, heading: string, value: (item: Item) => Text): ItemColumn<Item> {
  return { ...textColumn(key, heading, value), kind: 'sentence' };
}

export function numberColumn<Item>(
  key: string,
  heading: string,
  value: (item: Item) => Cell | number | null,
  digits = 1,
): ItemColumn<Item> {
  const cell = (item: Item): Cell => {
    const found = value(item);
    return typeof found === 'object' && found !== null ? found : numberCell(found, digits);
  };
  return { key, heading, kind: 'number', cell };
}

export const countColumn = <Item>(key: string, heading: string, value: (item: Item) => number | null | undefined) =>
  numberColumn(key, heading, value, 0);

/** A column of estimates or differences with their intervals, to one decimal; `scale` 100 makes shares percentages. */
export function intervalColumn<Item>(
  key: string,
  heading: string,
  value: (item: Item) => Cell | Interval | Difference | null,
  scale = 1,
): ItemColumn<Item> {
  const cell = (item: Item): Cell => {
    const found = value(item);
    return found && 'kind' in found ? found : estimateCell(found, scale);
  };
  return { key, heading, kind: 'interval', cell };
}

/** Columns of a part of each item; their cells are empty where an item lacks it. */
export function partColumns<Item, Part extends object>(
  part: (item: Item) => Part | undefined,
  columns: readonly ItemColumn<Part>[],
): ItemColumn<Item>[] {
  return columns.map((column) => ({
    ...column,
    cell: (item) => {
      const found = part(item);
      return found && column.cell(found);
    },
  }));
}

export function itemRows<Item>(
  items: readonly Item[],
  label: (item: Item) => string,
  blocks: readonly ItemBlock<Item>[],
): Pick<Table, 'blocks' | 'rows'> {
  const columns = blocks.flatMap((block) => block.columns);
  return {
    blocks: blocks.map((block) => ({
      ...block,
      columns: block.columns.map(({ key, heading, kind }) => ({ key, heading, kind })),
    })),
    rows: items.map((item) => ({
      label: label(item),
      cells: Object.fromEntries(columns.map(({ key, cell }) => [key, cell(item)])),
    })),
  };
}

export function textCell(text: string | null | undefined): Cell {
  return text === null || text === undefined ? undefined : { kind: 'text', text };
}

/** A cell with a number, by default to one decimal. */
export function numberCell(value: number | null | undefined, digits = 1): Cell {
  return value === null || value === undefined ? undefined : { kind: 'number', value, digits };
}

/** A cell with an estimate or a difference and its interval; `scale` 100 makes a share a percentage. */
export function estimateCell(estimate: Interval | Difference | null | undefined, scale = 1, digits = 1): Cell {
  if (estimate === null || estimate === undefined) return undefined;
  // One observation has no interval.
  const [low, high] = 'n' in estimate && estimate.n === 1 ? [-Infinity, Infinity] : [estimate.low, estimate.high];
  const bounds = { low: low * scale, high: high * scale, digits };
  if ('delta' in estimate) return { kind: 'interval', value: estimate.delta * scale, ...bounds };
  return { kind: 'interval', value: estimate.mean * scale, ...bounds, n: estimate.n, users: estimate.users };
}

type Interval = Pick<Estimate, 'mean' | 'low' | 'high'> & Partial<Pick<Estimate, 'n' | 'users'>>;

/** A cell for readers: `97.2 [95.1, 98.6]`, `–` without a value. */
export function formatCell(cell: Cell): string {
  if (cell?.kind === 'number') return formatNumber(cell.value, cell.digits);
  if (cell?.kind === 'interval') return formatInterval([cell.value, cell.low, cell.high], cell.digits);
  return cell?.text ?? '–';
}

/** The cells of a table as text: for each block the headings, then a line per row. */
export function cellTexts({ rowHeading, rows }: Pick<Table, 'rowHeading' | 'rows'>, { columns }: Block): string[][] {
  return [
    [rowHeading, ...columns.map(({ heading }) => heading)],
    ...rows.map(({ label, cells }) => [label, ...columns.map(({ key }) => formatCell(cells[key]))]),
  ];
}
