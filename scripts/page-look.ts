/** Inspection of pages in Chromium, on a wide page, a telephone and paper, with faults that a program can find. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { BenchError } from '../src/base/bench-error.ts';

export const WIDTHS = [1280, 390];
export const SCHEMES = ['light', 'dark'] as const;
/** Width of the text on A4 with the margins of the report, px. */
export const PAPER_WIDTH = 688;
/** Least size of a readable label, px. */
const LEAST_LABEL = 9;
/** Height of one picture, px: Chromium draws none that are much higher. */
const PICTURE_HEIGHT = 6000;

/** Runs in the page, whose types a program for Node does not know; true for paper. */
const FAULTS = String.raw`(printed) => {
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push('the page is ' + scrollWidth + ' px wide');
  for (const box of document.querySelectorAll('.scroll')) {
    const excess = box.scrollWidth - box.clientWidth;
    const name = box.getAttribute('aria-labelledby') ?? box.getAttribute('aria-label');
    if (printed && excess > 1) found.push(name + ': cut off by ' + excess + ' px');
  }
  for (const picture of document.querySelectorAll('svg')) {
    const scale = picture.clientWidth / picture.viewBox.baseVal.width;
    const sizes = [...picture.querySelectorAll('text')].map((label) => parseFloat(getComputedStyle(label).fontSize));
    const smallest = Math.min(...sizes) * scale;
    if (!printed && smallest < ${LEAST_LABEL}) found.push('a label of ' + smallest.toFixed(1) + ' px');
  }
  return found;
}`;

/** Finds faults of the page as it is shown now. */
export function faultsOf(page: Page, paper: boolean): Promise<string[]> {
  return page.evaluate<string[]>(`(${FAULTS})(${paper})`);
}

/** Loads pictures that a browser leaves until somebody scrolls to them. */
const LOAD_PICTURES = `Promise.all([...document.images].map((image) => {
  image.loading = 'eager';
  return image.decode().catch(() => undefined);
}))`;

/** The whole page as pictures, from the top: `NAME-1.png`, `NAME-2.png`, … */
export async function takePictures(page: Page, name: string): Promise<void> {
  await page.evaluate(LOAD_PICTURES);
  const width = page.viewportSize()!.width;
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  for (let y = 0, index = 1; y < height; y += PICTURE_HEIGHT, index += 1) {
    const clip = { x: 0, y, width, height: Math.min(PICTURE_HEIGHT, height - y) };
    await page.screenshot({ path: `${name}-${index}.png`, fullPage: true, clip });
  }
}

/** Starts Chromium. @throws BenchError `not-found` where it is not there */
export async function openBrowser(executablePath: string): Promise<Browser> {
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
