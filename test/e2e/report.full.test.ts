import { cpSync, existsSync, statSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redrawReports } from '../../src/cli/tables.ts';
import { writeReport } from '../../src/report/report-files.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { runResults } from '../fixtures/run-results.ts';
import { expectAccessible, followLinks, hasChromium, isFile, openPage } from '../fixtures/viewer-browser.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

/** Stored reports of two suites of one name, and one alone. */
const names = ['reference/storage', 'reference/serving', 'smollm2-135m-vllm'];

const folder = temporaryFolder();
let browser: Browser;
let page: Page;
let faults: string[];
const address = (path = 'report.html') => pathToFileURL(folder.file(path)).href;

/** Copies a report of the repository, and says where it lies. */
function copyReport(name: string, to: string): string {
  const copy = folder.file(`${to}/${name}`);
  cpSync(fileURLToPath(new URL(`../../reports/${name}`, import.meta.url)), copy, { recursive: true });
  return copy;
}

const exported = (...words: readonly string[]) =>
  runProcess([...program, 'inspect', '--report', 'reports', '--quiet', ...words], { cwd: folder.path });

beforeAll(async () => {
  if (hasChromium) ({ browser, page, faults } = await openPage(isFile));
});
afterAll(async () => {
  if (hasChromium) await browser.close();
});

describe.skipIf(!hasChromium)('a report in a browser, from a file', () => {
  beforeAll(async () => {
    const names = ['token identity', 'token accounting', 'cells', 'clock', 'errors'] as const;
    const checks = names.map((check) => ({ check, status: 'passed', evidence: 'by hand' }) as const);
    await writeReport(folder.path, [{ ...runResults, checks }]);
  });

  it('is small, nothing serious to axe in light and dark, and no wider than the page', async () => {
    expect(statSync(folder.file('report.html')).size).toBeLessThan(2_000_000);
    await expectAccessible(page, () => page.goto(address()));
    expect(faults).toEqual([]);
  });

  it.each(['reference', 'reference/methods', 'smollm2-135m'])('%s, as it is drawn from its results', async (name) => {
    const stored = copyReport(name, 'drawn');
    await redrawReports(stored);
    const file = `${stored}/report.html`;
    expect(statSync(file).size).toBeLessThan(2_000_000);
    await expectAccessible(page, () => page.goto(pathToFileURL(file).href), [390]);
    const links = await page.evaluate<string[]>('[...document.querySelectorAll("a[href]")].map(({ href }) => href)');
    const files = links.filter((href) => href.startsWith('file:') && !href.includes('#'));
    expect(files.filter((href) => !existsSync(fileURLToPath(href)))).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('sorts all blocks of a table by a heading, from the keyboard, and back again', async () => {
    await page.goto(address());
    const table = page.locator('section.table', { hasText: 'Table 1' }).first();
    const names = async (block: number) =>
      (await table.locator('table').nth(block).locator('tbody th').allInnerTexts()).map((text) => text.trim());
    const before = await names(0);
    await table.locator('table').first().locator('thead button').nth(1).focus();
    await page.keyboard.press('Enter');
    expect(await table.locator('th[aria-sort=descending]').count()).toBe(1);
    const cells = await table.locator('table').first().locator('tbody td:nth-child(2)').allInnerTexts();
    const values = cells.map(parseFloat);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(await names(1)).toEqual(await names(0));
    await page.keyboard.press('Enter');
    expect(await table.locator('th[aria-sort=ascending]').count()).toBe(1);
    await page.keyboard.press('Enter');
    expect(await names(0)).toEqual(before);
  });

  it('filters rows by name, and shows the same tables with no script', async () => {
    await page.goto(address());
    const checks = page.locator('section[aria-labelledby=main-checks]');
    const rows = () => checks.locator('tbody tr:visible').count();
    const all = await rows();
    expect(all).toBe(5);
    await checks.locator('label.filter input').fill('token');
    expect(await rows()).toBe(2);
    expect(await checks.locator('output').textContent()).toBe('2 of 5 rows');
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(address());
    expect(await plain.locator('label.filter, thead button').count()).toBe(0);
    expect(await plain.locator('section[aria-labelledby=main-checks]').locator('tbody tr').count()).toBe(all);
    await context.close();
  });

  it('folds its tables on a phone, and unfolds the one that a link names', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const phone = await context.newPage();
    await phone.goto(address());
    const checks = phone.locator('section[aria-labelledby=main-checks] tbody');
    const shown = async () => [await phone.locator('.verdict').first().isVisible(), await checks.isVisible()];
    expect(await shown()).toEqual([true, false]);
    await phone.goto(`${address()}#main-checks`);
    expect(await shown()).toEqual([true, true]);
    await context.close();
  });
});

describe.skipIf(!hasChromium)('several reports as one static site', () => {
  beforeAll(async () => {
    for (const name of names) copyReport(name, 'reports');
    expect(await exported('--export', 'site')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^site\/index\.html: 3 runs, \d+ items, \d+ turns, \d+ files, \d+ MB\n$/) as string,
      stderr: '',
    });
  });

  it('opens with an index of all of them, from which each is reached, and back', async () => {
    await expectAccessible(page, () => page.goto(address('site/index.html')));
    const listed = (await page.locator('tbody th').allInnerTexts()).map((text) => text.trim());
    expect(listed.sort()).toEqual([...names].sort());
    await page.getByRole('link', { name: 'smollm2-135m-vllm' }).click();
    await page.waitForURL(/files\/run-\d+\.html$/);
    expect(await page.textContent('h1')).toBe('smollm2-135m-vllm');
    await page.keyboard.press('Escape');
    await page.waitForURL(/site\/index\.html$/);
    expect(faults).toEqual([]);
  });

  it('leads to files that are there', async () => {
    const seen = await followLinks(page, address('site/index.html'));
    expect(seen.size).toBeGreaterThan(60);
    expect(faults).toEqual([]);
  });

  it('writes one of them alone where it is named', async () => {
    const stdout = expect.stringMatching(/^one\/index\.html: run smollm2-135m-vllm, \d+ items, /) as string;
    expect(await exported('--run', 'smollm2-135m-vllm', '--export', 'one')).toMatchObject({ code: 0, stdout });
    await page.goto(address('one/index.html'));
    expect(await page.locator('nav[aria-label="Breadcrumbs"]').count()).toBe(0);
  });
});
