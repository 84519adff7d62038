import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { html } from 'hono/html';
import { BenchError } from '../base/bench-error.ts';
import { diskErrorHint } from '../base/disk-error-hint.ts';
import { RunRepository } from '../store/run-repository.ts';
import { TurnListRepository } from '../store/turn-list-repository.ts';
import { groupedNumber } from '../render/format-number.ts';
import { viewerApp, type ViewerAppOptions } from './app.ts';
import { findRunByName } from '../eval/analysis/results-from-stored-turns.ts';
import { serverLinks as links } from './links.ts';

const filesFolder = 'files';
/** Bytes reserved, per turn and per run, for pages that list turns, since these are written last. */
const bytesOfListedTurn = 3000;
const bytesOfIndex = 250_000;

export interface ViewerExport extends Pick<ViewerAppOptions, 'database' | 'ofReports' | 'hiddenTexts'> {
  readonly folder: string;
  /** Default: all runs, with an index page. */
  readonly run?: string | undefined;
  /** Limit of all files together; the last items of a run are left out if it would be exceeded. */
  readonly mostBytes: number;
  readonly onProgress: (doneTurns: number, turns: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Writes the viewer's pages of one run or all runs as files that open without a server. An item is written with all its pages or
 * not at all; `leftOut` has a sentence for each incomplete run.
 * @throws BenchError `bad-option` for a folder that is not empty, `not-found` for an unknown run, `disk`; the reason of `signal`
 */
export async function exportPages(options: ViewerExport) {
  const { database, run, mostBytes, onProgress, signal } = options;
  const names = run === undefined ? new RunRepository(database).names() : [run];
  const runs = names.map((name) => {
    const rows = [...new TurnListRepository(database).rows(findRunByName(database, name).id)];
    return { name, turns: rows.length, items: Map.groupBy(rows, ({ itemId }) => itemId) };
  });
  const leftOut = new Map<string, string>();
  const exported = { withRuns: run === undefined, noteOf: (name: string) => note(leftOut.get(name)) };
  const app = viewerApp({ ...options, exported, onBug: () => undefined });
  const index = run === undefined ? links.runs() : links.run(run);
  using folder = new PagesFolder(options.folder, index, (address) => app.request(address));
  const total = runs.reduce((sum, { turns }) => sum + turns, 0);
  const done = { items: 0, turns: 0 };
  for (const { name, turns, items } of runs) {
    const before = { ...done };
    for (const [item, { length }] of items) {
      signal.throwIfAborted();
      const forLists = bytesOfIndex * runs.length + (done.turns + length) * bytesOfListedTurn;
      if (!(await folder.addItem(links.item(name, item), mostBytes - forLists))) break;
      done.items++;
      done.turns += length;
      onProgress(done.turns, total);
    }
    const left = { items: items.size - done.items + before.items, turns: turns - done.turns + before.turns };
    if (left.items === 0) continue;
    const share = (some: number, all: number): string => `${groupedNumber(some)} of ${groupedNumber(all)}`;
    const last = `${share(left.items, items.size)} items, ${share(left.turns, turns)} turns`;
    const limit = groupedNumber(mostBytes / 1e6);
    leftOut.set(name, `Left out: the last ${last}. An export takes at most ${limit} MB.`);
  }
  await folder.addOthers();
  folder.finish();
  const { files, bytes } = folder;
  const sentences = [...leftOut].map(([name, words]) => (run === undefined ? `${name}: ${words}` : words));
  return { runs: runs.length, ...done, files, bytes, leftOut: sentences };
}

const note = (leftOut: string | undefined) =>
  html`<p class="note">
    Exported from the viewer: filters of turns, comparisons, and differences to arms other than RAG need
    <code>npx dki-bench inspect</code>. ${leftOut === undefined ? '' : html`<strong>${leftOut}</strong>`}
  </p>`;

const ofItems = ['/item', '/turn', '/turn.json'];
const pathOf = (address: string): string => new URL(address, 'http://viewer').pathname;

const linkPattern = / (href|src)="(\/[^"#]*)(#[^"]*)?"/g;
const unescaped = (attribute: string): string => attribute.replaceAll('&amp;', '&');
const linkedAddresses = (page: string): string[] =>
  [...page.matchAll(linkPattern)].map(([, , attribute]) => unescaped(attribute!));

/** A folder that is written under a temporary name and renamed at the end, so that no reader sees half an export. */
class PagesFolder implements Disposable {
  readonly #target: string;
  readonly #work: string;
  readonly #request: (address: string) => Response | Promise<Response>;
  readonly #index: string;
  readonly #files = new Map<string, { readonly path: string; readonly bytes: number }>();
  readonly #counts = new Map<string, number>();
  bytes = 0;
  /** Addresses linked from written pages, to write after the items. */
  readonly #waiting = new Set<string>();

  /** @throws BenchError `bad-option` if the folder is not empty, `disk` if it cannot be written */
  constructor(path: string, index: string, request: (address: string) => Response | Promise<Response>) {
    this.#target = freePlace(path);
    this.#work = `${this.#target}.${process.pid}.part`;
    this.#request = request;
    this.#index = index;
    this.#waiting.add(index);
    onDisk(() => mkdirSync(join(this.#work, filesFolder), { recursive: true }));
  }

  get files(): number {
    return this.#files.size;
  }

  /** Writes the page of an item and the pages of its turns, or none of them if the folder would exceed `mostBytes`. */
  async addItem(address: string, mostBytes: number): Promise<boolean> {
    const pages = [address];
    for (const [index, page] of pages.entries()) {
      const content = await this.#add(page);
      if (this.bytes > mostBytes) {
        for (const written of pages.slice(0, index + 1)) this.#remove(written);
        return false;
      }
      for (const linked of linkedAddresses(content)) {
        if (!ofItems.includes(pathOf(linked))) this.#waiting.add(linked);
        else if (!pages.includes(linked) && pathOf(linked) !== '/item') pages.push(linked);
      }
    }
    return true;
  }

  /** Writes all other pages, and then replaces the links on all pages by file names. */
  async addOthers(): Promise<void> {
    for (const address of this.#waiting) {
      const content = await this.#add(address);
      for (const linked of linkedAddresses(content)) if (!ofItems.includes(pathOf(linked))) this.#waiting.add(linked);
    }
    for (const { path } of this.#files.values()) {
      if (!path.endsWith('.html')) continue;
      const page = readFileSync(join(this.#work, path), 'utf8');
      onDisk(() => writeFileSync(join(this.#work, path), this.#withFileLinks(page, path)));
    }
  }

  finish(): void {
    onDisk(() => {
      if (existsSync(this.#target)) rmdirSync(this.#target);
      renameSync(this.#work, this.#target);
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#work, { recursive: true, force: true });
  }

  /** Writes the file of an address. @returns the page, empty for other files */
  async #add(address: string): Promise<string> {
    const response = await this.#request(address);
    const content = await response.text();
    const path = this.#pathFor(address);
    const bytes = Buffer.byteLength(content);
    onDisk(() => writeFileSync(join(this.#work, path), content));
    this.#files.set(address, { path, bytes });
    this.bytes += bytes;
    return path.endsWith('.html') ? content : '';
  }

  #remove(address: string): void {
    const { path, bytes } = this.#files.get(address)!;
    rmSync(join(this.#work, path));
    this.bytes -= bytes;
    this.#files.delete(address);
  }

  /** `files/turn-12.html`, from the kind of page and a number: file names contain no names of users' data. */
  #pathFor(address: string): string {
    if (address === this.#index) return 'index.html';
    const [, kind = '', suffix = '.html'] = /^\/(\w+)(\.\w+)?$/.exec(pathOf(address))!;
    if (suffix === '.css' || suffix === '.js') return `${filesFolder}/${kind}${suffix}`;
    const count = (this.#counts.get(kind + suffix) ?? 0) + 1;
    this.#counts.set(kind + suffix, count);
    return `${filesFolder}/${kind}-${count}${suffix}`;
  }

  /** Replaces links by relative file names, and removes the address of links to pages that were left out. */
  #withFileLinks(page: string, from: string): string {
    return page.replaceAll(linkPattern, (_, name: string, attribute: string, fragment = '') => {
      const to = this.#files.get(unescaped(attribute))?.path;
      if (to === undefined) return '';
      const path = from === 'index.html' ? to : to === 'index.html' ? `../${to}` : to.slice(filesFolder.length + 1);
      return ` ${name}="${path}${fragment}"`;
    });
  }
}

function freePlace(path: string): string {
  const refused = (why: string) => new BenchError('bad-option', `--export ${path}: ${why}`, 'name a new folder');
  const wanted = resolve(path);
  if (!existsSync(wanted)) return wanted;
  const place = realpathSync(wanted);
  if (!statSync(place).isDirectory()) throw refused('it is a file');
  if (readdirSync(place).length > 0) throw refused('the folder is not empty');
  return place;
}

function onDisk(work: () => void): void {
  try {
    work();
  } catch (error) {
    const message = `the export cannot be written: ${(error as Error).message}`;
    throw new BenchError('disk', message, `${diskErrorHint(error)}, or name another folder`, error);
  }
}
