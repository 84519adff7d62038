import { readFileSync } from 'node:fs';

/** What the package of this program says of itself. */
export const ownPackage = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: `>=${string}` };
};
