import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import { viewerApp } from '../../src/viewer/app.ts';
import { serverLinks as links } from '../../src/viewer/links.ts';
import { type InspectServer, startServer } from '../../src/viewer/server.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { excessWidth, followLinks, hasChromium, openPage, seriousFaults } from '../fixtures/viewer-browser.ts';
import { TestFolder } from '../model/bench-fixture.ts';

/** Things that memories must not get to do: to be markup, to turn the reading direction, to fetch something, to fill a page. */
const hostileMemory =
  '<script>document.title = "taken"</script><img src="http://foreign.example/x.png" onerror="document.title = 1"> ' +
  '\u202eevil\u2066 My cat is Plibo.';

/** The first user of the shipped data set, and one whose memories are hostile; of every kind of item one or more. */
function hostileDataset(): string {
  const lines = readFileSync(new URL('../../datasets/recall-en.jsonl', import.meta.url), 'utf8').split('\n');
  const kept = lines.filter((line) => line.includes('"userId":"u01"'));
  const about = { name: 'hostile', language: 'en', version: 1, seed: 7, unknownAnswer: "I don't know." };
  const userId = 'u<b>99</b>';
  const memory = (memoryId: string, content: string) => ({
    ...{ type: 'memory', userId, memoryId, content },
    ...{ createdAt: '2026-02-08T10:22:00Z', value: 'Plibo' },
  });
  const made = [
    memory('<i>m-1</i>', hostileMemory),
    memory('m-2', `My dog: ${'长<b>'.repeat(200_000)}`),
    memory('m-3', '我的妹妹住在都灵。'),
    {
      ...{ type: 'item', itemId: '<img src=x>', userId, query: 'What is my cat <script>alert(1)</script>?' },
      ...{ answer: 'Plibo', evidence: ['<i>m-1</i>'], category: 'plain', askedAt: '2026-06-01T09:00:00Z' },
    },
  ];
  return [JSON.stringify({ type: 'dataset', ...about }), ...kept, ...made.map((record) => JSON.stringify(record))].join(
    '\n',
  );
}

const run = 'small';
const hostileItem = '<img src=x>';
const shownMemory = hostileMemory.replace('\u202e', '\\u202e').replace('\u2066', '\\u2066');

const own = new TestFolder();
const folder = own.path;
let database: BenchDatabase;
let server: InspectServer;
let browser: Browser;
let page: Page;
let faults: string[];

const dkiBench = (...words: readonly string[]) => runProcess([...program, ...words], { cwd: folder });
const open = (address: string) => page.goto(new URL(address, server.url).href);
const turnOf = (item: string, arm: string) => links.turn({ run, item, arm, repeat: 0, turn: 0 });
/** The first column of a query on the stored turns. */
const column = (query: string): unknown[] => database.query.values<[unknown]>(query).map(([value]) => value);
const heading = () => page.textContent('h1');
async function press(...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}
const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()');

describe.skipIf(!hasChromium)('the viewer on a run that was made here', () => {
  beforeAll(async () => {
    writeFileSync(join(folder, 'hostile.jsonl'), hostileDataset());
    const words = ['--dataset', './hostile.jsonl', '--arms', 'none,rag,dki-blocks', '--run', run, '--quiet'];
    expect(await dkiBench('bench', ...words)).toMatchObject({ code: 0, stderr: '' });
    database = openDatabase({ path: own.file('reports/dki-bench.sqlite'), readOnly: true });
    const onBug = (error: Error) => faults.push(error.stack!);
    server = await startServer(viewerApp({ database, onBug }), 0);
    ({ browser, page, faults } = await openPage((url) =>
      [server.url, 'file:', 'data:'].some((at) => url.startsWith(at)),
    ));
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? '';
      // A page that is left waits for nothing more.
      if (why !== 'net::ERR_ABORTED') faults.push(`${why}: ${request.url()}`);
    });
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    database.close();
    own[Symbol.dispose]();
  });

  it('leads by keys from the runs to a turn and back', async () => {
    await open(links.runs());
    await press('j', 'Enter');
    await page.waitForURL(/\/run\?/);
    expect(await heading()).toBe(run);
    await page.selectOption('[name=arm]', 'dki-blocks');
    await page.locator('[data-result] [role=status]', { hasText: 'Items 1 to 11 of 11' }).waitFor();
    await press('j', 'Enter');
    await page.waitForURL(/\/item\?/);
    await page.getByRole('link', { name: 'dki-blocks', exact: true }).click();
    await page.waitForURL(/\/turn\?/);
    expect(await heading()).toMatch(/^dki-blocks on /);
    expect(await page.locator('.sequence li.injected').count()).toBeGreaterThan(3);
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/item\?/);
    await press('j', 'j');
    expect(await focused()).toBe('rag');
    await press('Escape', 'Escape');
    await page.waitForURL(/\/run\?/);
    expect(faults).toEqual([]);
  });

  it('has its keys on every kind of page', async () => {
    const compare = links.compare({ run, arm: 'dki-blocks' }, { run, arm: 'none' });
    const lists = [links.runs(), links.run(run), links.item(run, 'u01-q01'), turnOf('u01-q01', 'rag'), compare];
    for (const address of lists) {
      await open(address);
      await page.keyboard.press('?');
      expect(await focused()).toBe('Close');
      await press('Escape', 'j', 'k');
      const row = await page.evaluate('[...document.querySelectorAll("[data-open]")].indexOf(document.activeElement)');
      expect([address, row]).toEqual([address, 0]);
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    }
    await page.goto(new URL(links.run('nothing'), server.url).href);
    await page.keyboard.press('Escape');
    await page.waitForURL(server.url);
    expect(faults.splice(0)).toEqual([expect.stringContaining('404')]);
  });

  it('shows token boundaries and ids where they are asked for', async () => {
    await open(turnOf('u01-q01', 'dki-blocks'));
    const ids = page.locator('.sequence sub');
    expect(await ids.first().isVisible()).toBe(false);
    await page.check('#show-tokens');
    expect(await ids.first().isVisible()).toBe(true);
    expect(await ids.allTextContents()).toHaveLength(
      Number(/(\d+) tokens/.exec((await page.textContent('#sequence'))!)![1]),
    );
  });

  it('filters the turns on which arms disagree, and compares two arms, flips first', async () => {
    await open(links.run(run));
    await page.check('[name=disagreeing]');
    await page.waitForURL(/disagreeing=1/);
    const items = await page.locator('[data-result] tbody a[data-open]').allTextContents();
    const differing = (sign: string): unknown[] =>
      column(`SELECT item_id FROM turns GROUP BY item_id HAVING count(DISTINCT task_success) ${sign} 1`);
    expect(new Set(items)).toEqual(new Set(differing('>')));
    expect(differing('=')).not.toEqual([]);
    await page.selectOption('[name=armA]', 'dki-blocks');
    await page.selectOption('[name=armB]', 'none');
    await page.getByRole('button', { name: 'Compare' }).click();
    expect(await heading()).toBe('Compare dki-blocks with none');
    const outcomes = (await page.locator('tbody tr td:nth-child(2)').allTextContents()).map((text) => text.trim());
    const flips = outcomes.filter((outcome) => outcome === '+ won').length;
    expect(flips).toBeGreaterThan(3);
    expect(outcomes.slice(0, flips)).toEqual(Array.from({ length: flips }, () => '+ won'));
  });

  it('shows attributions that the command line has stored', async () => {
    await open(turnOf('u01-q01', 'dki-blocks'));
    const attributions = page.locator('.attributions-table tbody tr');
    expect(await attributions.count()).toBe(0);
    const words = ['--run', run, '--item', 'u01-q01', '--arm', 'dki-blocks', '--attribution', '--json', '--quiet'];
    expect(await dkiBench('inspect', ...words)).toMatchObject({ code: 0 });
    await open(turnOf('u01-q01', 'dki-blocks'));
    expect(await attributions.count()).toBe(await page.locator('.memories-table td:has-text("kept")').count());
    const evidence = (await page.locator('.memories-table tr.evidence th').first().textContent())!.trim();
    const difference = await attributions.filter({ hasText: evidence }).locator('td').nth(1).textContent();
    expect(Number.parseFloat(difference!.replace('+', ''))).toBeGreaterThan(1);
    expect(faults).toEqual([]);
  });

  it('shows hostile text as text: nothing runs, nothing is fetched', async () => {
    const compare = links.compare({ run, arm: 'dki-blocks' }, { run, arm: 'none' });
    const text = links.run(run, { text: '<script>' });
    const pages = [turnOf(hostileItem, 'rag'), turnOf(hostileItem, 'dki-blocks'), links.item(run, hostileItem)];
    for (const address of [...pages, compare, text]) {
      await open(address);
      expect(await page.title()).toMatch(/· dki-bench$/);
      expect(await page.locator('main img[src="x"], main script, main b b').count()).toBe(0);
      expect(await excessWidth(page)).toBe(0);
    }
    await open(pages[0]!);
    expect(await page.innerText('.sequence')).toContain(shownMemory);
    expect(await page.innerText('.memories-table')).toContain(shownMemory);
    expect(await page.textContent('main')).toContain('我的妹妹住在都灵。');
    expect(faults).toEqual([]);
  });

  describe('exported', () => {
    const openFile = (name: string) => page.goto(pathToFileURL(join(folder, name)).href);

    it('by the command line, which says where, opens from disk: every link leads to a file, nothing is serious to axe', async () => {
      const { code, stdout, stderr } = await dkiBench('inspect', '--export', 'pages');
      expect([code, stderr]).toEqual([0, expect.stringContaining('100 % of 33 turns')]);
      const [, made] = /^pages\/index\.html: run small, 11 items, 33 turns, (\d+) files, \d+ MB\n$/.exec(stdout)!;
      const kinds = new Set<string>();
      const seen = await followLinks(page, pathToFileURL(join(folder, 'pages', 'index.html')).href, async (address) => {
        const kind = /([a-z]+)(?:-\d+)?\.html$/.exec(address)![1]!;
        if (!kinds.has(kind)) expect([kind, await seriousFaults(page)]).toEqual([kind, []]);
        kinds.add(kind);
        expect(await excessWidth(page)).toBe(0);
      });
      expect([...kinds].sort()).toEqual(['index', 'item', 'table', 'turn']);
      expect(seen.size).toBe(Number(made) - 2);
      expect(faults).toEqual([]);
    });

    it('filters its matrix with no server', async () => {
      await openFile('pages/index.html');
      const shown = async () => (await page.locator('table.matrix tbody tr:visible').allInnerTexts()).length;
      expect(await shown()).toBe(11);
      await page.selectOption('[name=wrong]', 'none');
      await page.selectOption('[name=right]', 'rag');
      const [wanted] = column(`SELECT count(*) FROM turns AS a JOIN turns AS b USING (item_id)
        WHERE a.arm = 'none' AND a.task_success = 0 AND b.arm = 'rag' AND b.task_success = 1`) as [number];
      expect(wanted).toBeGreaterThan(0);
      expect(await shown()).toBe(wanted);
      expect(await page.textContent('output')).toBe(`${wanted} of 11 are shown`);
      await page.fill('[name=text]', 'nothing of the kind');
      expect(await shown()).toBe(0);
    });

    it('keeps the keys and shows hostile text as text', async () => {
      await openFile('pages/index.html');
      await press('j', 'Enter');
      await page.waitForURL(/item-\d+\.html$/);
      await press('j', 'Enter');
      await page.waitForURL(/turn-\d+\.html$/);
      await page.keyboard.press('Escape');
      await page.waitForURL(/item-\d+\.html$/);
      await page.keyboard.press('Escape');
      await page.waitForURL(/index\.html$/);
      await page.locator('tr', { hasText: hostileItem }).locator('a[data-open]').first().click();
      expect(await heading()).toBe(`Item ${hostileItem}`);
      expect(await page.title()).toBe(`${hostileItem} · dki-bench`);
      await page.getByRole('link', { name: 'rag', exact: true }).click();
      expect(await page.innerText('.sequence')).toContain(shownMemory);
      expect(faults).toEqual([]);
    });

    it('is written of a report without its database, with matrix and items', async () => {
      const words = ['--report', join('reports', run), '--export', 'site', '--quiet'];
      const { code, stdout, stderr } = await dkiBench('inspect', ...words);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^site\/index\.html: run small, 11 items, 33 turns, /);
      expect(readdirSync(join(folder, 'site/files')).filter((name) => name.startsWith('turn-'))).toEqual([]);
      await openFile('site/index.html');
      expect(await seriousFaults(page)).toEqual([]);
      await page.locator('table.matrix tbody td.o a').first().click();
      await page.waitForURL(/item-\d+\.html$/);
      expect(await page.locator('table.arms tbody tr').count()).toBe(3);
      expect(await page.textContent('main')).toContain('A report has only outcomes of turns');
      expect(faults).toEqual([]);
    });
  });
});
