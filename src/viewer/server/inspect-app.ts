import { type Context, Hono } from 'hono';
import { BenchError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import type { Html } from '../../render/html-table.ts';
import { readComparison } from '../compare/read-comparison.ts';
import { comparePage } from '../compare/compare-page.ts';
import type { AttributionPort } from '../attribution/attribution-port.ts';
import { type Breadcrumb, layout, type PageKind } from '../layout.ts';
import type { HiddenTexts } from '../hidden-texts.ts';
import { itemPage } from '../item/item-page.ts';
import { itemOutcomesPage, readItemOutcomes } from '../item/item-outcomes.ts';
import { readItemPage } from '../item/read-item-page.ts';
import { matrixPage } from '../matrix/matrix-page.ts';
import { readMatrix } from '../matrix/read-matrix.ts';
import { pairPage } from '../pair/pair-page.ts';
import { readPair } from '../pair/read-pair.ts';
import { itemQueryOf, matrixQueryOf } from '../run/item-query.ts';
import { runPage, tablePage, withoutOutcomes } from '../run/run-page.ts';
import { readFigure, readRunPage, readTable } from '../run/read-run-page.ts';
import { readRunsPage } from '../runs/read-runs-page.ts';
import { runsPage } from '../runs/runs-page.ts';
import { style } from '../style.ts';
import { turnJson } from '../turn/turn-json.ts';
import { readTurnPage } from '../turn/read-turn.ts';
import { turnPage } from '../turn/turn-page.ts';
import { RunObserver } from '../watch/run-observer.ts';
import { watchPage } from '../watch/watch-page.ts';
import { addressValues, turnRefOf, valuesOf } from './address-values.ts';
import { attributionForm, newToken, routeAttribution } from './attribution-route.ts';
import { errorPage, failureOf } from './error-page.ts';
import { FigurePictures } from './figure-pictures.ts';
import { guard, type ServerEnvironment } from './guards.ts';
import { reportLinks, serverLinks } from './server-links.ts';
import { routeWatch } from './watch-route.ts';

/** Options of the viewer. */
export interface InspectAppOptions {
  /** Read only. */
  readonly database: BenchDatabase;
  /** The database holds reports: the outcomes of turns, and no turns. */
  readonly ofReports?: boolean | undefined;
  /** The script of the pages; undefined if it was not built. */
  readonly script?: string | undefined;
  /** Computes leave-one-out attributions; without it, pages offer none. */
  readonly attribution?: AttributionPort | undefined;
  /** By default the rule of reports. */
  readonly hiddenTexts?: HiddenTexts | undefined;
  /** Options of a command that name the database; none for the default one. */
  readonly places?: readonly string[] | undefined;
  /** Called with errors that are bugs. */
  readonly onBug: (error: Error) => void;
}

const toRuns: Breadcrumb = { text: 'Runs', href: serverLinks.runs() };
const toRun = (run: string): Breadcrumb => ({ text: run, href: serverLinks.run(run) });
const toItem = (run: string, item: string): Breadcrumb => ({ text: item, href: serverLinks.item(run, item) });

const search = (context: Context): URLSearchParams => new URL(context.req.url).searchParams;

/** The viewer as a web application: every page is made from the database at the request. */
export function inspectApp({
  database,
  ofReports = false,
  script,
  attribution,
  hiddenTexts,
  places,
  onBug,
}: InspectAppOptions): Hono<ServerEnvironment> {
  const app = new Hono<ServerEnvironment>();
  const links = ofReports ? reportLinks : serverLinks;
  const token = newToken();
  const pictures = new FigurePictures();
  const page = async (
    context: Context,
    kind: PageKind,
    title: string,
    breadcrumbs: readonly Breadcrumb[],
    body: Html,
  ): Promise<Response> => context.html(await layout({ title, links, breadcrumbs, body, page: kind }));

  app.use(guard);
  app.get('/', (context) => {
    const model = readRunsPage(database, valuesOf(addressValues.runs, search(context)));
    return page(context, 'runs', 'Runs', [], runsPage(model, links));
  });
  app.get('/run', (context) => {
    const { run } = valuesOf(addressValues.run, search(context));
    const model = readRunPage(database, run, itemQueryOf(search(context)), hiddenTexts);
    const note = ofReports && model.items.page.matching === 0 ? withoutOutcomes(model) : undefined;
    return page(context, 'run', run, [toRuns], runPage(model, links, note));
  });
  app.get('/matrix', (context) => {
    const { run } = valuesOf(addressValues.run, search(context));
    const matrix = readMatrix(database, run, matrixQueryOf(search(context)), hiddenTexts);
    return page(context, 'matrix', 'Items and arms', [toRuns, toRun(run)], matrixPage(matrix, links));
  });
  app.get('/table', (context) => {
    const { run, table: id } = valuesOf(addressValues.table, search(context));
    const table = readTable(database, run, id);
    return page(context, 'run', table.caption, [toRuns, toRun(run)], tablePage(table));
  });
  app.get('/figure.svg', async (context) => {
    const { run, figure } = valuesOf(addressValues.figure, search(context));
    const picture = await pictures.draw(readFigure(database, run, figure));
    return context.body(picture, 200, {
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    });
  });
  app.get('/item', (context) => {
    const { run, item } = valuesOf(addressValues.item, search(context));
    const body = ofReports
      ? itemOutcomesPage(readItemOutcomes(database, run, item, hiddenTexts), links)
      : itemPage(readItemPage(database, run, item, hiddenTexts), links);
    return page(context, 'item', item, [toRuns, toRun(run)], body);
  });
  app.get('/turn', (context) => {
    const values = valuesOf(addressValues.turn, search(context));
    const turn = turnRefOf(values);
    const model = readTurnPage(database, turn, values.against, hiddenTexts);
    const asking = attribution === undefined ? undefined : attributionForm(turn, token);
    const body = turnPage(model, links, { attributionForm: asking, places });
    return page(context, 'turn', turn.arm, [toRuns, toRun(turn.run), toItem(turn.run, turn.item)], body);
  });
  app.get('/turn.json', (context) => {
    const turn = turnRefOf(valuesOf(addressValues.turn, search(context)));
    const model = readTurnPage(database, turn, undefined, hiddenTexts);
    return context.body(turnJson(model), 200, { 'content-type': 'application/json; charset=utf-8' });
  });
  app.get('/pair', (context) => {
    const values = valuesOf(addressValues.pair, search(context));
    const model = readPair(database, turnRefOf(values), values.other, hiddenTexts);
    const title = `${values.arm} beside ${values.other}`;
    return page(
      context,
      'pair',
      title,
      [toRuns, toRun(values.run), toItem(values.run, values.item)],
      pairPage(model, links),
    );
  });
  app.get('/compare', (context) => {
    const { a, b, armA, armB, page: number = 1, force } = valuesOf(addressValues.compare, search(context));
    const query = {
      a: { run: a, ...(armA === undefined ? {} : { arm: armA }) },
      b: { run: b, ...(armB === undefined ? {} : { arm: armB }) },
      page: number,
      ...(force === undefined ? {} : { force: true as const }),
    };
    const model = readComparison(database, query, hiddenTexts);
    const title = `Compare ${model.a.arm} with ${model.b.arm}`;
    return page(
      context,
      'compare',
      title,
      [toRuns, toRun(a), ...(a === b ? [] : [toRun(b)])],
      comparePage(model, links),
    );
  });
  if (!ofReports) {
    // Of the run that was asked for last: what its observer has read it does not read again.
    let latest: { readonly run: string; readonly observer: RunObserver } | undefined;
    app.get('/watch', (context) => {
      const { run } = valuesOf(addressValues.run, search(context));
      if (latest?.run !== run) latest = { run, observer: new RunObserver(database, run, hiddenTexts) };
      const state = latest.observer.read();
      return page(context, 'watch', 'Progress', [toRuns, toRun(run)], watchPage(state, links));
    });
    routeWatch(app, { database, hiddenTexts, onBug });
  }
  app.get(links.style(), (context) => context.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get(links.script(), (context) =>
    context.body(script ?? '', script === undefined ? 404 : 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );
  if (attribution !== undefined) routeAttribution(app, attribution, token);

  app.notFound(async (context) => {
    const message = `there is no page ${new URL(context.req.url).pathname}`;
    return context.html(await errorPage({ status: 404, message, hint: 'start from the runs' }, links), 404);
  });
  app.onError(async (error, context) => {
    const failure = failureOf(error);
    const isBug = failure.status === 500 && !(error instanceof BenchError) && !context.req.raw.signal.aborted;
    if (isBug) onBug(error);
    return context.html(await errorPage(failure, links), failure.status);
  });
  return app;
}
