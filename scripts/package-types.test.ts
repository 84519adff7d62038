import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { TestFolder } from '../test/model/bench-fixture.ts';
import { typeErrors } from './package-types.ts';

it('names what a user of a package cannot compile, in both ways of resolving modules', () => {
  using folder = new TestFolder();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(folder.file(path)), { recursive: true });
    writeFileSync(folder.file(path), text);
  };
  const exports = { '.': './index.js', './part': './part.js', './lost': './lost.js' };
  write('node_modules/tea/package.json', JSON.stringify({ name: 'tea', version: '1.0.0', type: 'module', exports }));
  write(
    'node_modules/tea/index.d.ts',
    "import type { Cup } from 'untidy';\nexport declare const cups: number;\nexport declare const cup: Cup;\n",
  );
  write('node_modules/tea/part.d.ts', "import type { Pot } from 'untyped';\nexport declare const pot: Pot;\n");
  write('package.json', JSON.stringify({ type: 'module' }));
  write('node_modules/untidy/package.json', JSON.stringify({ name: 'untidy', type: 'module', exports: './index.js' }));
  write('node_modules/untidy/index.d.ts', 'export type Cup = Missing;\n');
  write('examples/own.ts', "import { cups } from 'tea';\nexport const text: string = cups;\n");
  const errors = typeErrors(folder.path, 'tea', folder.file('examples'));
  for (const resolution of ['nodenext', 'bundler']) {
    const start = `moduleResolution ${resolution}: ${folder.path}/`;
    const found = errors.filter((error) => error.startsWith(start));
    const places = found.map((error) => error.slice(start.length).split(': ')[0]);
    expect(places.toSorted()).toEqual([
      'node_modules/tea/part.d.ts:1',
      'node_modules/untidy/index.d.ts:1',
      'project/own.ts:2',
      'project/subpaths.ts:3',
    ]);
  }
  expect(errors).toHaveLength(8);
});
