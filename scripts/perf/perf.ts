/**
 * Runs one performance measurement: `npm run perf -- NAME [options]`; each is a file beside this one, and says what it measures. Its ratios
 * are compared with those in `baselines`, which `--save-baseline` replaces.
 */
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { printedTables } from '../run-script.ts';
import { compareWithBaseline, ratiosOf, saveBaseline } from './baseline.ts';

const SAVE = '--save-baseline';

const names = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isFile() && /^(?!perf\.|baseline\.)[a-z-]+\.ts$/.test(entry.name))
  .map((entry) => entry.name.slice(0, -'.ts'.length));
const [name, ...given] = process.argv.slice(2);
const options = given.filter((option) => option !== SAVE);

if (name === undefined || !names.includes(name)) {
  console.error(`usage: npm run perf -- NAME [options] [${SAVE}], where NAME is one of ${names.join(', ')}`);
  process.exitCode = 2;
} else {
  // The measurement reads its options as if it had been started itself.
  const file = `${import.meta.dirname}/${name}.ts`;
  process.argv.splice(1, process.argv.length - 1, file, ...options);
  await import(pathToFileURL(file).href);
  if (process.exitCode === undefined) {
    const ratios = ratiosOf(printedTables);
    if (given.includes(SAVE)) saveBaseline(name, ratios);
    else compareWithBaseline(name, ratios);
  }
}
