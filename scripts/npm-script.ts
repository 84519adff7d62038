import { readFileSync } from 'node:fs';

/** The words of a script of package.json, as `npm run` starts it: a measurement starts the same. */
export function npmScript(name: 'inspect' | 'tables'): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly scripts: Readonly<Record<typeof name, string>>;
  };
  return scripts[name].split(' ');
}
