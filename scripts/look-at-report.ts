/**
 * Opens a report in Chromium, on a wide page, a telephone and paper, and reports what cannot be read:
 * `npx tsx scripts/look-at-report.ts reports/demo/report.html --out looks`. Needs Chromium (Debian: chromium); pictures go to --out.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { BenchError } from '../src/base/bench-error.ts';
import { faultsOf, openBrowser, PAPER_WIDTH, SCHEMES, takePictures, WIDTHS } from './page-look.ts';
import { runScript } from './run-script.ts';

await runScript(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' }, browser: { type: 'string', default: '/usr/bin/chromium' } },
  });
  const [file] = positionals;
  if (file === undefined || values.out === undefined) {
    throw new BenchError(
      'bad-option',
      'a file and --out are needed',
      'npx tsx scripts/look-at-report.ts FILE --out FOLDER',
    );
  }
  mkdirSync(values.out, { recursive: true });
  const browser = await openBrowser(values.browser);
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
        found.push(...(await faultsOf(page, false)).map((fault) => `${name}: ${fault}`));
        await takePictures(page, join(values.out, name));
        await page.close();
      }
    }
    const page = await browser.newPage({ viewport: { width: PAPER_WIDTH, height: 1000 } });
    await page.goto(pathToFileURL(resolve(file)).href);
    await page.emulateMedia({ media: 'print' });
    found.push(...(await faultsOf(page, true)).map((fault) => `print: ${fault}`));
    await page.pdf({ path: join(values.out, 'print.pdf'), preferCSSPageSize: true });
  } finally {
    await browser.close();
  }
  console.log(found.length === 0 ? 'nothing overflows, every label can be read' : found.join('\n'));
  if (found.length > 0) process.exitCode = 1;
});
