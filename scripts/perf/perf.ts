/** Runs one performance measurement: `npm run perf -- NAME [options]`; each is a file beside this one, and says what it measures. */
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const names = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isFile() && /^(?!perf\.)[a-z-]+\.ts$/.test(entry.name))
  .map((entry) => entry.name.slice(0, -'.ts'.length));
const [name, ...options] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  console.error(`usage: npm run perf -- NAME [options], where NAME is one of ${names.join(', ')}`);
  process.exitCode = 2;
} else {
  // The measurement reads its options as if it had been started itself.
  const file = `${import.meta.dirname}/${name}.ts`;
  process.argv.splice(1, process.argv.length - 1, file, ...options);
  await import(pathToFileURL(file).href);
}
