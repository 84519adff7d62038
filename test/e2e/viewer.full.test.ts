import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { viewerApp } from '../../src/viewer/app.ts';
import { serverLinks as links } from '../../src/viewer/links.ts';
import { type InspectServer, startServer } from '../../src/viewer/server.ts';
import { runResults } from '../fixtures/run-results.ts';
import { storeRun } from '../fixtures/stored-runs.ts';
import { expectAccessible, hasChromium, openPage } from '../fixtures/viewer-browser.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const hostile = '<script>document.title = "taken"</script><img src=x onerror="document.title = 1">\u202e\u0000';

const folder = new TestFolder();
let database: BenchDatabase;
let server: InspectServer;
let browser: Browser;
let page: Page;
let faults: string[];

beforeAll(async () => {
  const path = folder.file('bench.sqlite');
  {
    using writable = openDatabase({ path });
    const answers = [undefined, hostile + '长'.repeat(1_000_000), '她住在都灵。'];
    const turns = Array.from({ length: 60 }, (_, index) => index).flatMap((index) =>
      ['rag', 'dki'].map((arm) => {
        const turn = { itemId: index === 1 ? hostile : `i-${index}`, userId: 'ann', arm };
        const answer = answers[index];
        return { ...turn, right: arm === 'rag' || index !== 0, ...(answer === undefined ? {} : { answer }) };
      }),
    );
    const run = storeRun(writable, { name: 'group/main', turns });
    new RunRepository(writable).update(run.id, { results: runResults });
    storeRun(writable, { name: hostile, turns });
  }
  database = openDatabase({ path, readOnly: true });
  const onBug = (error: Error) => faults.push(String(error));
  server = await startServer(viewerApp({ database, onBug }), 0);
  ({ browser, page, faults } = await openPage());
});
afterAll(async () => {
  await browser.close();
  await server.close();
  database.close();
  folder[Symbol.dispose]();
});

const open = (address: string) => page.goto(new URL(address, server.url).href);
const screen = { width: 1280, height: 900 };
/** Narrow enough that forms are folded. */
const telephone = { width: 390, height: 900 };
const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()');
const turnOf = (item: string) => links.turn({ run: 'group/main', item, arm: 'dki', repeat: 0, turn: 0 }, 'rag');

describe.skipIf(!hasChromium)('the viewer in a browser', () => {
  const pages = {
    runs: links.runs(),
    run: links.run('group/main'),
    'A wrong and B right': links.run('group/main', { wrong: 'dki', right: 'rag' }),
    item: links.item('group/main', hostile),
    turn: turnOf(hostile),
    'turn of Chinese': turnOf('i-2'),
    compare: links.compare({ run: 'group/main', arm: 'dki' }, { run: 'group/main', arm: 'rag' }),
    'page that is not there': '/run?run=nothing',
  };

  it.each(Object.entries(pages))(
    '%s: nothing serious to axe, no wider than the page, no text taken for markup',
    async (_, to) => {
      await expectAccessible(page, async () => {
        await open(to);
        expect(await page.title()).toContain('dki-bench');
        expect(await page.locator('img[src="x"]').count()).toBe(0);
      });
      expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
    },
  );

  it('is walked through by keys, also where forms are folded', async () => {
    await page.setViewportSize(telephone);
    await open(links.runs());
    for (const key of ['j', 'j', 'k', 'j']) await page.keyboard.press(key);
    expect(await focused()).toBe('group/main');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/run\?/);
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.name')).toBe('text');
    await page.keyboard.type('j?');
    expect(await page.inputValue('[name=text]')).toBe('j?');
    await page.waitForURL(/text=j/);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    await page.keyboard.press('?');
    expect(await page.locator('dialog[open] dt').count()).toBe(6);
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.waitForURL(server.url);
  });

  it('follows its filters without being loaded anew, and works with no script at all', async () => {
    await page.setViewportSize(screen);
    await open(links.run('group/main'));
    await page.selectOption('[name=answer]', 'wrong');
    await page.locator('[data-result] [role=status]', { hasText: 'Items 1 to 1 of 1' }).waitFor();
    expect(new URL(page.url()).searchParams.get('answer')).toBe('wrong');
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: screen });
    const plain = await context.newPage();
    await plain.goto(new URL(links.run('group/main'), server.url).href);
    await plain.selectOption('[name=answer]', 'wrong');
    await plain.click('form[data-live] button');
    expect(await plain.textContent('[data-result] [role=status]')).toContain('Items 1 to 1 of 1');
    await context.close();
  });

  it('leads from a filter of the matrix to answers and a turn', async () => {
    await page.setViewportSize(telephone);
    await open(links.run('group/main'));
    await page.getByText('Filters', { exact: true }).click();
    await page.selectOption('[name=wrong]', 'dki');
    await page.selectOption('[name=right]', 'rag');
    await page.locator('[data-result] [role=status]', { hasText: 'Items 1 to 1 of 1' }).waitFor();
    expect(await page.locator('dl.answers').isVisible()).toBe(false);
    await page.click('table.matrix summary');
    expect(await page.locator('dl.answers dd').allTextContents()).toEqual(['rag', 'dki']);
    expect(await page.locator('td.gold').textContent()).toBe('Turin');
    await page.click('td.wrong a');
    await page.waitForURL(/\/turn\?/);
    expect(await page.locator('.differences-section dt').first().textContent()).toBe('answers');
  });
});
