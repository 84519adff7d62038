/**
 * Opens every kind of page of the viewer in Chromium, on a wide page, a telephone and paper, and reports what cannot be read:
 * `npx tsx scripts/look-at-viewer.ts --db reports/dki-bench.sqlite --run main-1 --out looks`. Needs Chromium (Debian: chromium);
 * pictures go to --out.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { BenchError } from '../src/base/bench-error.ts';
import { type BenchDatabase, openDatabase } from '../src/store/database.ts';
import { TurnListRepository } from '../src/store/turn-list-repository.ts';
import { runNamed, usualPair } from '../src/viewer/find-run.ts';
import { viewerApp } from '../src/viewer/app.ts';
import { serverLinks as links } from '../src/viewer/links.ts';
import { startServer } from '../src/viewer/server.ts';
import { faultsOf, openBrowser, PAPER_WIDTH, SCHEMES, takePictures, WIDTHS } from './page-look.ts';
import { runScript } from './run-script.ts';

/** An address of each kind of page, by the name of its pictures; if possible of an item on which arms disagree. */
function addressesOf(database: BenchDatabase, run: string, wanted: string | undefined): Record<string, string> {
  const turns = new TurnListRepository(database);
  const { id, plan } = runNamed(database, run);
  const [first] = [{ disagreeing: true } as const, {}].flatMap((filter) => turns.page(id, { filter, size: 1 }).rows);
  const item = wanted ?? first?.itemId;
  if (item === undefined) throw new BenchError('not-found', `run "${run}" has no turn`, 'name another run');
  const [a = '', b = a] = usualPair(plan.arms, turns.arms(id));
  const turnOf = (arm: string) => links.turn({ run, item, arm, repeat: 0, turn: 0 });
  return {
    runs: links.runs(),
    run: links.run(run),
    watch: links.watch(run),
    list: `${links.run(run, { disagreeing: true, sort: 'firstTokenMs', descending: true })}#items`,
    matrix: links.matrix(run),
    'matrix-a-wrong-b-right': links.matrix(run, { wrong: a, right: b }),
    item: links.item(run, item),
    turn: turnOf(a),
    'turn-of-text': turnOf(b),
    ...(a === b ? {} : { pair: links.pair({ run, item, arm: a, repeat: 0, turn: 0 }, b) }),
    ...(a === b ? {} : { compare: links.compare({ run, arm: a }, { run, arm: b }) }),
    'no-such-page': links.run(`${run}?`),
  };
}

async function look(browser: Browser, url: string, name: string, out: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      const look = `${name}-${width}-${colorScheme}`;
      page.on('pageerror', (error) => found.push(`${look}: ${error.message}`));
      await page.goto(url, { waitUntil: 'networkidle' });
      found.push(...(await faultsOf(page, false)).map((fault) => `${look}: ${fault}`));
      await takePictures(page, join(out, look));
      await page.close();
    }
  }
  const page = await browser.newPage({ viewport: { width: PAPER_WIDTH, height: 1000 } });
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.emulateMedia({ media: 'print' });
  found.push(...(await faultsOf(page, true)).map((fault) => `${name}-print: ${fault}`));
  await takePictures(page, join(out, `${name}-print`));
  await page.close();
  return found;
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      ...{ db: { type: 'string' }, run: { type: 'string' }, item: { type: 'string' }, out: { type: 'string' } },
      browser: { type: 'string', default: '/usr/bin/chromium' },
    },
  });
  const { db, run, out } = values;
  if (db === undefined || run === undefined || out === undefined) {
    const hint = 'npx tsx scripts/look-at-viewer.ts --db FILE --run NAME --out FOLDER';
    throw new BenchError('bad-option', '--db, --run and --out are needed', hint);
  }
  mkdirSync(out, { recursive: true });
  using database = openDatabase({ path: db, readOnly: true });
  const addresses = addressesOf(database, run, values.item);
  const found: string[] = [];
  const onBug = (error: Error) => found.push(error.message);
  const server = await startServer(viewerApp({ database, onBug }), 0);
  const browser = await openBrowser(values.browser);
  try {
    for (const [name, address] of Object.entries(addresses)) {
      found.push(...(await look(browser, new URL(address, server.url).href, name, out)));
    }
  } finally {
    await browser.close();
    await server.close();
  }
  console.log(found.length === 0 ? 'nothing overflows, every label can be read' : found.join('\n'));
  if (found.length > 0) process.exitCode = 1;
});
