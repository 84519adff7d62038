/** Writes `docs/licences.md`, the licences of what ships in the package and of what installing it brings: `npx tsx scripts/licences.ts`. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { modelRegistry, shippedPath } from '../src/models/model-registry.ts';
import { writeText } from '../src/data/write-lines.ts';
import { runScript } from './run-script.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const PAGE = resolve(root, 'docs/licences.md');
/** Packages of a licence are named up to this number, and counted above. */
const MOST_NAMED = 12;

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), license: z.string(), dev: z.boolean(), link: z.boolean() }).partial(),
  ),
});

export async function licencesPage(): Promise<string> {
  const { packages } = lockfile.parse(JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8')));
  const installed = Object.entries(packages)
    .filter(([path, { dev, link }]) => path !== '' && dev !== true && link !== true)
    .map(([path, { version = '', license = 'not stated' }]) => ({
      name: `${path.split('node_modules/').at(-1)!} ${version}`,
      licence: license,
    }));
  const byLicence = [...Map.groupBy(installed, ({ licence }) => licence)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const listed = (packages: typeof installed) => {
    const names = [...new Set(packages.map(({ name }) => name))].toSorted();
    return names.length > MOST_NAMED ? `${names.length} packages` : names.join(', ');
  };
  const shipped = modelRegistry.filter((entry) => shippedPath(entry) !== undefined);
  const brought = modelRegistry.filter((entry) => !shipped.includes(entry));
  const page = [
    '# Licences',
    'Written by `npx tsx scripts/licences.ts` from the lockfile and the registry of models; a test compares them.',
    '## In the package',
    `Code, data sets and models that ship are the project’s own, MIT: ${shipped.map(({ name }) => `\`${name}\``).join(', ')}, ` +
      '`facts-en`, `facts-zh`, their second editions, `recall-en`, `recall-zh` and their development splits.',
    '## Fetched on request',
    brought.map(({ name, licence, source }) => `- \`${name}\`: ${licence}, ${source}`).join('\n'),
    'Public data sets (`locomo`, `musique-s`, `2wiki`, `hotpotqa`, `longmemeval`, `beam`, `multi-turn`) are fetched on request too, ' +
      'or given by `--data-file`; `npx dki-bench list datasets` names their licences.',
    '## Installed by npm',
    'What `npm install dki-bench` may bring, other platforms included; `package-lock.json` names each package.',
    byLicence.map(([licence, packages]) => `- ${licence}: ${listed(packages)}`).join('\n'),
  ].join('\n\n');
  return format(page, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => writeText(PAGE, await licencesPage()));
}
