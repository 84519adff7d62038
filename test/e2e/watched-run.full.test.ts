import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { serverLinks as links } from '../../src/viewer/links.ts';
import { program, type RunningProcess, startProcess } from '../fixtures/run-process.ts';
import { expectAccessible, hasChromium, openPage } from '../fixtures/viewer-browser.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const run = 'watched';
const arms = ['none', 'rag', 'dki', 'dki-blocks'];
const patience = { timeout: 600_000, interval: 200 };
const until = (isSo: () => unknown) => vi.waitUntil(isSo, patience);

const folder = temporaryFolder();
const path = folder.file('reports/dki-bench.sqlite');
let bench: RunningProcess;
let viewer: RunningProcess;
let url: string;
let browser: Browser;
let page: Page;
let faults: string[];

/** Starts the viewer as a user does, and waits for its address. */
async function startViewer(port: string): Promise<void> {
  viewer = startProcess([...program, 'inspect', '--port', port], { cwd: folder.path });
  let stdout = '';
  viewer.child.stdout.on('data', (text: string) => (stdout += text));
  await until(() => stdout.includes('\n'));
  url = stdout.trim();
}

async function stopViewer(): Promise<void> {
  viewer.child.kill('SIGINT');
  expect(await viewer.ended).toMatchObject({ code: 0 });
}

const turns = async (shown: Page) => Number(await shown.locator('progress').getAttribute('value'));
const connection = () => page.locator('[data-connection]').getAttribute('data-state');

/** Names of the runs in the database. @throws BenchError `database` until the bench has created it */
function storedRuns(): readonly string[] {
  using database = openDatabase({ path, readOnly: true });
  return new RunRepository(database).names();
}

describe.skipIf(!hasChromium)('a bench that runs', () => {
  beforeAll(async () => {
    const words = ['--arms', arms.join(','), '--limit', '40', '--run', run, '--quiet'];
    bench = startProcess([...program, 'bench', ...words], { cwd: folder.path });
    await vi.waitFor(() => expect(storedRuns()).toEqual([run]), patience);
    await startViewer('0');
    ({ browser, page, faults } = await openPage());
  });
  afterAll(async () => {
    // In the order in which they were started: if one did not start, those before it end.
    bench.child.kill('SIGKILL');
    viewer.child.kill('SIGKILL');
    await browser.close();
    await Promise.all([bench.ended, viewer.ended]);
  });

  it('is watched from its beginning: turns come without a reload', async () => {
    await page.goto(url);
    await page.getByRole('link', { name: 'Progress' }).click();
    await page.waitForURL(/\/watch\?/);
    await page.evaluate('globalThis.sameDocument = true');
    await until(async () => (await connection()) === 'live');
    await until(async () => (await turns(page)) > 0);
    const first = await turns(page);
    await until(async () => (await turns(page)) > first);
    expect(await page.evaluate('globalThis.sameDocument')).toBe(true);
    const progress = await page.textContent('[data-part="progress"]');
    expect(progress).toMatch(/turns\/s.*left, last turn at \d\d:\d\d:\d\d UTC/s);
  });

  it('is shown to readers of all kinds while it goes on, and without a script', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const still = await plain.newPage();
    // So that what is looked at stands still.
    bench.child.kill('SIGSTOP');
    let before: number;
    try {
      await still.goto(new URL(links.watch(run), url).href);
      expect(await still.textContent('[data-connection]')).toContain('reload the page to update it');
      before = await turns(still);
      const planned = Number(await still.locator('progress').getAttribute('max'));
      expect([before > 0, before < planned]).toEqual([true, true]);
      await expectAccessible(page);
    } finally {
      bench.child.kill('SIGCONT');
    }
    await until(async () => {
      await still.reload();
      return (await turns(still)) > before;
    });
    await plain.close();
  });

  it('is watched again when the viewer was started anew', async () => {
    await stopViewer();
    await until(async () => (await connection()) === 'lost');
    const before = await turns(page);
    await startViewer(new URL(url).port);
    await until(async () => ['live', 'ended'].includes((await connection())!));
    await until(async () => (await turns(page)) > before);
    expect(await page.evaluate('globalThis.sameDocument')).toBe(true);
    // The viewer was not there for some time.
    expect(faults.splice(0).filter((fault) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(fault))).toEqual([]);
  });

  it('is watched to its end, from which the page of the run is reached', async () => {
    expect(await bench.ended).toMatchObject({ code: 0, stderr: '' });
    await until(async () => (await connection()) === 'ended');
    expect(await page.textContent('.phase')).toContain('Finished: verdict, checks and tables');
    await page.getByRole('link', { name: 'the page of the run' }).click();
    await page.locator('#verdict').waitFor();
    expect(faults).toEqual([]);
    await stopViewer();
  });
});
