import { readFileSync } from 'node:fs';

/** The `package.json` of this program. */
export const packageJson = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: `>=${string}` };
};
