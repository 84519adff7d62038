import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program, runProcess } from '../fixtures/run-process.ts';
import { excessWidth, hasChromium, openChromium, seriousFaults } from '../fixtures/viewer-browser.ts';

/** Stored reports of two suites of one name, and one alone. */
const names = ['reference/storage', 'reference/serving', 'smollm2-135m-vllm'];

let folder: string;
let browser: Browser;
let page: Page;
const faults: string[] = [];
const file = (path: string) => pathToFileURL(join(folder, path)).href;

describe.skipIf(!hasChromium)('several reports as one static site', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dki-site-'));
    for (const name of names) {
      cpSync(fileURLToPath(new URL(`../../reports/${name}`, import.meta.url)), join(folder, 'reports', name), { recursive: true }); // prettier-ignore
    }
    const words = ['inspect', '--report', 'reports', '--export', 'site', '--quiet'];
    const { code, stdout, stderr } = await runProcess([...program, ...words], { cwd: folder });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^site\/index\.html: 3 runs, \d+ items, \d+ turns, \d+ files, \d+ MB\n$/);
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

  it('opens with an index of all of them, from which each is reached, and back', async () => {
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.goto(file('site/index.html'));
        expect([await seriousFaults(page), await excessWidth(page)]).toEqual([[], 0]);
      }
    }
    const listed = (await page.locator('tbody th').allInnerTexts()).map((text) => text.trim());
    expect(listed.sort()).toEqual([...names].sort());
    await page.getByRole('link', { name: 'smollm2-135m-vllm' }).click();
    await page.waitForURL(/files\/run-\d+\.html$/);
    expect(await page.textContent('h1')).toBe('smollm2-135m-vllm');
    await page.getByRole('link', { name: 'Items and arms', exact: true }).click();
    await page.waitForURL(/files\/matrix-\d+\.html$/);
    await page.keyboard.press('Escape');
    await page.waitForURL(/files\/run-\d+\.html$/);
    await page.keyboard.press('Escape');
    await page.waitForURL(/site\/index\.html$/);
    expect(faults).toEqual([]);
  });

  it('leads to files that are there', async () => {
    const waiting = [file('site/index.html')];
    const seen = new Set(waiting);
    for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
      expect([address, existsSync(fileURLToPath(address))]).toEqual([address, true]);
      if (!address.endsWith('.html')) continue;
      await page.goto(address);
      const found = await page.evaluate<string[]>('[...document.querySelectorAll("a[href]")].map(({ href }) => href)');
      for (const href of found.map((one) => one.replace(/#.*$/, ''))) {
        if (!seen.has(href)) waiting.push(href);
        seen.add(href);
      }
    }
    expect(seen.size).toBeGreaterThan(60);
    expect(faults).toEqual([]);
  });

  it('writes one of them alone where it is named', async () => {
    const words = ['inspect', '--report', 'reports', '--run', 'smollm2-135m-vllm', '--export', 'one', '--quiet'];
    const { code, stdout } = await runProcess([...program, ...words], { cwd: folder });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^one\/index\.html: run smollm2-135m-vllm, \d+ items, /)]);
    await page.goto(file('one/index.html'));
    expect(await page.locator('nav[aria-label="Breadcrumbs"]').count()).toBe(0);
  });
});
