import type { ItemQuery, Links, MatrixQuery, TurnRef } from '../links.ts';
import { filesFolder } from './export-folder.ts';

/** Turns on a page of the list. */
export const listedTurns = 50;

/** Numbers things by name, so that no name from data becomes the name of a file. */
class FileNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #last = new Map<string, number>();

  /** The number of a thing, from 1 in each kind: the same at each call. */
  of(kind: string, ...name: readonly (string | number)[]): number {
    const key = JSON.stringify([kind, ...name]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const next = (this.#last.get(kind) ?? 0) + 1;
    this.#last.set(kind, next);
    this.#numbers.set(key, next);
    return next;
  }
}

/** Paths of the files of an export, relative to the folder that holds the index. */
export class ExportFiles {
  readonly index = 'index.html';
  readonly style = `${filesFolder}/style.css`;
  readonly script = `${filesFolder}/viewer.js`;
  readonly #numbers = new FileNumbers();

  /** A page of the list of turns, or of the items on which arms disagree; the index holds the first page of all turns. */
  list({ disagreeing, at = 0 }: ItemQuery): string {
    const page = Math.floor(at / listedTurns) + 1;
    if (disagreeing === true) return `${filesFolder}/disagreeing-${page}.html`;
    return page === 1 ? this.index : `${filesFolder}/list-${page}.html`;
  }

  /** A page of the matrix of all items. */
  matrix({ page = 1 }: MatrixQuery): string {
    return `${filesFolder}/matrix-${page}.html`;
  }

  /** The page of a turn side by side with another arm's. */
  pair({ item, arm, repeat, turn }: TurnRef, other: string): string {
    return `${filesFolder}/pair-${this.#numbers.of('pair', item, arm, repeat, turn, other)}.html`;
  }

  table(id: string): string {
    return `${filesFolder}/table-${this.#numbers.of('table', id)}.html`;
  }

  figure(id: string): string {
    return `${filesFolder}/figure-${this.#numbers.of('figure', id)}.svg`;
  }

  item(id: string): string {
    return `${filesFolder}/item-${this.#numbers.of('item', id)}.html`;
  }

  turn(turn: TurnRef, suffix: 'html' | 'json'): string {
    const { item, arm, repeat, turn: number } = turn;
    return `${filesFolder}/turn-${this.#numbers.of('turn', item, arm, repeat, number)}.${suffix}`;
  }
}

/** The kind of an export. */
export interface ExportKind {
  /** False for a report, which holds no turns. */
  readonly opensTurns: boolean;
  /** It is one folder of a site, whose index stands above it. */
  readonly inSite: boolean;
}

/** Links from a page of an export, relative to its own folder. */
export function exportLinks(files: ExportFiles, from: string, { opensTurns, inSite }: ExportKind): Links {
  const inFolder = from.startsWith(`${filesFolder}/`);
  const to = (path: string): string => {
    if (!inFolder) return path;
    return path.startsWith(`${filesFolder}/`) ? path.slice(filesFolder.length + 1) : `../${path}`;
  };
  return {
    answered: false,
    opensTurns,
    runs: () => `${inSite ? '../../inspect/' : ''}${to(files.index)}`,
    run: (_run, query = {}) => to(files.list(query)),
    matrix: (_run, query = {}) => to(files.matrix(query)),
    table: (_run, table) => to(files.table(table)),
    figure: (_run, figure) => to(files.figure(figure)),
    item: (_run, item) => to(files.item(item)),
    turn: (turn) => to(opensTurns ? files.turn(turn, 'html') : files.item(turn.item)),
    turnJson: (turn) => to(files.turn(turn, 'json')),
    pair: (turn, other) => to(files.pair(turn, other)),
    // An export has no comparisons, and nothing in it goes on.
    compare: () => to(files.index),
    watch: () => to(files.index),
    watchEvents: () => to(files.index),
    style: () => to(files.style),
    script: () => to(files.script),
  };
}
