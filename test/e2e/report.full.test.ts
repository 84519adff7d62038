import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redrawReports } from '../../src/cli/stored-reports.ts';
import { writeReport } from '../../src/report/report-files.ts';
import { runResults } from '../fixtures/run-results.ts';
import { excessWidth, hasChromium, openChromium, seriousFaults } from '../fixtures/viewer-browser.ts';

let folder: string;
let browser: Browser;
let page: Page;
const faults: string[] = [];
const address = () => pathToFileURL(join(folder, 'report.html')).href;

describe.skipIf(!hasChromium)('a report in a browser, from a file', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dki-report-browser-'));
    const names = ['token identity', 'token accounting', 'cells', 'clock', 'errors'] as const;
    const checks = names.map((check) => ({ check, status: 'passed', evidence: 'by hand' }) as const);
    await writeReport(folder, [{ ...runResults, checks }]);
    browser = await openChromium();
    page = await browser.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => !request.url().startsWith('file:') && faults.push(`asks for ${request.url()}`));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it.each([1280, 390])(
    'at %i px: small, nothing serious to axe in light and dark, no wider than the page',
    async (width) => {
      expect(statSync(join(folder, 'report.html')).size).toBeLessThan(2_000_000);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.goto(address());
        expect(await seriousFaults(page)).toEqual([]);
        expect(await excessWidth(page)).toBe(0);
      }
      expect(faults).toEqual([]);
    },
  );

  it.each(['reference', 'reference/methods', 'smollm2-135m'])('%s, as it is drawn from its results', async (name) => {
    const stored = join(folder, 'reports', name);
    cpSync(fileURLToPath(new URL(`../../reports/${name}`, import.meta.url)), stored, { recursive: true });
    await redrawReports(stored);
    const file = join(stored, 'report.html');
    expect(statSync(file).size).toBeLessThan(2_000_000);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(pathToFileURL(file).href);
      expect([colorScheme, await seriousFaults(page), await excessWidth(page)]).toEqual([colorScheme, [], 0]);
    }
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
    const heading = table.locator('table').first().locator('thead button').nth(1);
    await heading.focus();
    await page.keyboard.press('Enter');
    expect(await table.locator('th[aria-sort=descending]').count()).toBe(1);
    const values = (await table.locator('table').first().locator('tbody td:nth-child(2)').allInnerTexts()).map(
      parseFloat,
    );
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
});
