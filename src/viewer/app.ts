/**
 * The viewer: a web application that shows the runs of a database or of reports. Every page is rendered on request.
 *
 * - `app.ts` routes addresses (`links.ts`) to pages; `server.ts` serves them to this machine only;
 *   `export-pages.ts` writes the same pages as files.
 * - `runs-page.ts`, `item-page.ts` and the files `…-page.ts` of `run/`, `matrix/`, `compare/`, `turn/` and `watch/` each read one
 *   kind of page and draw it; lists share `list-components.ts`.
 * - A turn consists of sections (`turn/turn-sections.ts`), which `render/` draws for pages and for the terminal.
 * - `open-reports.ts` loads reports into a database in memory.
 *
 * `hono/html` escapes texts of users, and `printable` makes their control characters visible.
 */
import { type Context, Hono } from 'hono';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import type { BenchDatabase } from '../store/database.ts';
import { type Html, readAsset } from '../render/html.ts';
import { pictureFile, renderFigure, renderSpecification } from '../render/figure.ts';
import { comparePage, readComparison, UnlikeRuns } from './compare/compare-arms-page.ts';
import type { HiddenTexts } from './hidden-texts.ts';
import { itemPage, readItemPage, reportItemPage } from './item-page.ts';
import { type Page, errorPage, layout } from './page-layout.ts';
import { type Links, reportLinks, serverLinks, parseParameters, queryParameters } from './links.ts';
import { readFigure, readRunPage, readTable, runPage, tablePage, withoutOutcomes } from './run/run-page.ts';
import { readRunsPage, runsPage } from './runs-page.ts';
import { guard, type ServerEnvironment } from './server.ts';
import { turnPage, readTurnPage, turnsJson } from './turn/turn-page.ts';
import { watchPage, readRunProgress } from './watch/watch-page.ts';

export interface ViewerAppOptions {
  readonly database: BenchDatabase;
  /** The database holds reports: outcomes of turns, but not the turns themselves. */
  readonly ofReports?: boolean | undefined;
  /** Default: `hiddenInReports`. */
  readonly hiddenTexts?: HiddenTexts | undefined;
  /** Command-line options that name the database, for commands on pages; empty for the default database. */
  readonly places?: readonly string[] | undefined;
  /** Pages are written to files: they have no forms, and errors are thrown. `noteOf` says what the export leaves out. */
  readonly exported?: { readonly withRuns: boolean; readonly noteOf: (run: string) => Html };
  readonly onBug: (error: Error) => void;
}

const style = readAsset('report.css') + readAsset('viewer.css');
const script = readAsset('viewer.js');

/** Content Security Policy of exported pages. Names `file:` because Firefox does not treat files as `'self'`. */
const filePolicy =
  "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file: data:; " +
  "base-uri 'none'; form-action 'none'";

/** Size of the cache of figures, which take longer to draw than any page. */
const mostPictures = 24;

/** A page, with the run and the item that it belongs to. */
type PlacedPage = Omit<Page, 'breadcrumbs'> & { readonly run?: string; readonly item?: string };

export function viewerApp(options: ViewerAppOptions): Hono<ServerEnvironment> {
  const { database, ofReports = false, hiddenTexts, places, exported, onBug } = options;
  const app = new Hono<ServerEnvironment>();
  const served = ofReports ? reportLinks : serverLinks;
  const links: Links = exported === undefined ? served : { ...served, answered: false };
  const pictures = new LRUCache<string, Promise<string>>({ max: mostPictures });

  const read = <Schema extends z.ZodType>(schema: Schema, context: Context): z.output<Schema> =>
    parseParameters(schema, new URL(context.req.url).searchParams);
  const page = <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    make: (query: z.output<Schema>) => PlacedPage,
  ) =>
    app.get(path, async (context) => {
      const { kind, title, run, item, body } = make(read(schema, context));
      const breadcrumbs = [
        ...(kind === 'runs' || exported?.withRuns === false ? [] : [{ text: 'Runs', href: links.runs() }]),
        ...(run === undefined ? [] : [{ text: run, href: links.run(run) }]),
        ...(run === undefined || item === undefined ? [] : [{ text: item, href: links.item(run, item) }]),
      ];
      const policy = exported === undefined ? undefined : filePolicy;
      return context.html(await layout({ kind, title, body, breadcrumbs }, links, policy));
    });

  if (exported === undefined) app.use(guard);
  page('/', queryParameters.runs, (query) => {
    const model = readRunsPage(database, query, exported === undefined ? undefined : Number.MAX_SAFE_INTEGER);
    return { kind: 'runs', title: 'Runs', body: runsPage(model, links) };
  });
  page('/run', queryParameters.matrix, ({ run, ...query }) => {
    const model = readRunPage(database, run, query, { hidden: hiddenTexts, inFile: exported !== undefined });
    const isEmpty = ofReports && model.matrix.matching === 0 && Object.keys(query).length === 0;
    const note = isEmpty ? withoutOutcomes(model) : exported?.noteOf(run);
    return { kind: 'run', title: run, body: runPage(model, links, note) };
  });
  page('/table', queryParameters.table, ({ run, table: id }) => {
    const table = readTable(database, run, id);
    return { kind: 'run', title: table.caption, run, body: tablePage(table) };
  });
  app.get('/figure.svg', async (context) => {
    const { run, figure: id } = read(queryParameters.figure, context);
    const figure = readFigure(database, run, id);
    const key = renderSpecification(figure);
    const picture = pictures.get(key) ?? renderFigure(figure).then(pictureFile);
    pictures.set(key, picture);
    return context.body(await picture, 200, {
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    });
  });
  page('/item', queryParameters.item, (query) => {
    const { run, item } = query;
    const body = ofReports
      ? reportItemPage(database, query, links, hiddenTexts)
      : itemPage(readItemPage(database, run, item, hiddenTexts), links);
    return { kind: 'item', title: item, run, body };
  });
  page('/turn', queryParameters.turn, ({ against, ...turn }) => {
    const body = turnPage(readTurnPage(database, turn, against, hiddenTexts), links, places);
    return { kind: 'turn', title: turn.arm, run: turn.run, item: turn.item, body };
  });
  app.get('/turn.json', (context) => {
    const model = readTurnPage(database, read(queryParameters.turn, context), undefined, hiddenTexts);
    return context.body(turnsJson([model]), 200, { 'content-type': 'application/json; charset=utf-8' });
  });
  page('/compare', queryParameters.compare, (query) => {
    const model = readComparison(database, query, hiddenTexts);
    const title = `Compare ${model.a.arm} with ${model.b.arm}`;
    return { kind: 'compare', title, run: query.a, body: comparePage(model, links) };
  });
  page('/watch', queryParameters.run, ({ run }) => {
    const body = watchPage(readRunProgress(database, run, hiddenTexts), links);
    return { kind: 'watch', title: 'Progress', run, body };
  });
  app.get(links.style(), (context) => context.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get(links.script(), (context) => context.body(script, 200, { 'content-type': 'text/javascript; charset=utf-8' }));

  const showError = async (error: Error, context: Context): Promise<Response> => {
    const { status, page: text } = await errorPage(error, links, comparedAnyway(error, links));
    return context.html(text, status);
  };
  app.notFound((context) => {
    const message = `there is no page ${new URL(context.req.url).pathname}`;
    return showError(new BenchError('not-found', message, 'start from the runs'), context);
  });
  app.onError((error, context) => {
    if (exported !== undefined) throw error;
    if (!(error instanceof BenchError) && !context.req.raw.signal.aborted) onBug(error);
    return showError(error, context);
  });
  return app;
}

/** The address of a comparison that was refused since the runs differ; undefined for other errors. */
function comparedAnyway(error: Error, links: Links): string | undefined {
  if (!(error instanceof UnlikeRuns)) return undefined;
  const { a, b, armA, armB } = error.query;
  return links.compare({ run: a, ...(armA && { arm: armA }) }, { run: b, ...(armB && { arm: armB }) }, { force: true });
}
