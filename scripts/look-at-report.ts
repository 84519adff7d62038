/**
 * Opens a report in Chromium, on a wide page, a telephone and paper, and says what cannot be read:
 * `npm run report:look -- reports/demo/report.html --out looks`. Needs Chromium (Debian: chromium); pictures go to --out.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { BenchError } from '../src/config/bench-error.ts';
import { runScript } from './run-script.ts';

const WIDTHS = [1280, 400];
const SCHEMES = ['light', 'dark'] as const;
/** What A4 with the margins of the report leaves for text, px. */
const PAPER_WIDTH = 688;
/** Smaller labels are no labels, px. */
const LEAST_LABEL = 9;

/** More is not in one picture: Chromium draws none that are much higher, px. */
const PICTURE_HEIGHT = 6000;

/** Runs in the page, whose types a program for Node does not know; true for paper. */
const FAULTS = String.raw`(printed) => {
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push('the page is ' + scrollWidth + ' px wide');
  if (document.querySelector('script') !== null) found.push('there is a script');
  for (const box of document.querySelectorAll('.scroll')) {
    const excess = box.scrollWidth - box.clientWidth;
    if (printed && excess > 1) found.push(box.getAttribute('aria-labelledby') + ': cut off by ' + excess + ' px');
  }
  for (const picture of document.querySelectorAll('svg')) {
    const scale = picture.clientWidth / picture.viewBox.baseVal.width;
    const sizes = [...picture.querySelectorAll('text')].map((label) => parseFloat(getComputedStyle(label).fontSize));
    const smallest = Math.min(...sizes) * scale;
    if (!printed && smallest < ${LEAST_LABEL}) found.push('a label of ' + smallest.toFixed(1) + ' px');
  }
  return found;
}`;

/** What is wrong with the page as it is shown now. */
function faults(page: Page, paper: boolean): Promise<string[]> {
  return page.evaluate<string[]>(`(${FAULTS})(${paper})`);
}

async function takePictures(page: Page, name: string): Promise<void> {
  const width = page.viewportSize()!.width;
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  for (let y = 0, index = 1; y < height; y += PICTURE_HEIGHT, index += 1) {
    const clip = { x: 0, y, width, height: Math.min(PICTURE_HEIGHT, height - y) };
    await page.screenshot({ path: `${name}-${index}.png`, fullPage: true, clip });
  }
}

async function open(executablePath: string): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  } catch (error) {
    throw new BenchError(
      'not-found',
      `${executablePath} cannot be started`,
      'install Chromium (Debian: apt-get install chromium), or name it with --browser',
      error,
    );
  }
}

await runScript(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' }, browser: { type: 'string', default: '/usr/bin/chromium' } },
  });
  const [file] = positionals;
  if (file === undefined || values.out === undefined) {
    throw new BenchError('bad-option', 'a file and --out are needed', 'npm run report:look -- FILE --out FOLDER');
  }
  mkdirSync(values.out, { recursive: true });
  const browser = await open(values.browser);
  const found: string[] = [];
  try {
    for (const width of WIDTHS) {
      for (const colorScheme of SCHEMES) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
        page.on('request', (request) => {
          if (!request.url().startsWith('file:')) found.push(`asks for ${request.url()}`);
        });
        await page.goto(pathToFileURL(resolve(file)).href);
        const name = `${width}-${colorScheme}`;
        found.push(...(await faults(page, false)).map((fault) => `${name}: ${fault}`));
        await takePictures(page, join(values.out, name));
        await page.close();
      }
    }
    const page = await browser.newPage({ viewport: { width: PAPER_WIDTH, height: 1000 } });
    await page.goto(pathToFileURL(resolve(file)).href);
    await page.emulateMedia({ media: 'print' });
    found.push(...(await faults(page, true)).map((fault) => `print: ${fault}`));
    await page.pdf({ path: join(values.out, 'print.pdf'), preferCSSPageSize: true });
  } finally {
    await browser.close();
  }
  console.log(found.length === 0 ? 'nothing overflows, every label can be read' : found.join('\n'));
  if (found.length > 0) process.exitCode = 1;
});
