import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';
import { type Cycle, cyclesOf, type Import, importsIn, importsOf } from '../fixtures/import-graph.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { order, engines, readers } = JSON.parse(readFileSync(`${root}/layers.json`, 'utf8')) as {
  order: string[];
  engines: { shared: string[] };
  readers: { layers: string[]; closed: string[] };
};
const folders = [...new Set(order.map((layer) => layer.split('/')[0]!))];

/** Tests may reach any layer; what ships may not. */
const isTest = (path: string) => /\.(test|bench)\.tsx?$/.test(path);
const everyImport = importsIn(`${root}/src`);
const shipped = everyImport.filter(({ from }) => !isTest(from));

const shown = ({ from, line, to }: Import) => `src/${from}:${line} imports ${to}`;

const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** True of an import from a lower layer to a higher one. A file directly in `eval` or `systems` is bound by cycles alone there. */
function runsUpwards({ from, to, isPackage }: Import): boolean {
  if (isPackage) return false;
  const place = (list: readonly string[], path: string) => list.findIndex((layer) => isIn(path, layer));
  const [fromFolder, toFolder] = [place(folders, from), place(folders, to)];
  if (fromFolder !== toFolder) return fromFolder > toFolder;
  const [fromPart, toPart] = [place(order, from), place(order, to)];
  return fromPart !== -1 && toPart !== -1 && fromPart > toPart;
}

/** A cycle as its reader wants it: who takes part, then the imports that make it. */
function described({ folder, children, imports }: Cycle): string {
  const name = folder === '' ? 'src' : `src/${folder}`;
  return [`${name}: ${children.join(', ')} import each other:`, ...imports.map((found) => `  ${shown(found)}`)].join(
    '\n',
  );
}

describe('imports of src', () => {
  it('run down the list of layers', () => {
    expect(shipped.length).toBeGreaterThan(500);
    expect(shipped.filter(runsUpwards).map(shown)).toEqual([]);
  });

  it('make no cycle among the files and folders of any folder', () => {
    expect(cyclesOf(shipped).map(described).join('\n')).toBe('');
  });

  it('stay within src, in folders that the list of layers names', () => {
    const local = shipped.filter(({ isPackage }) => !isPackage);
    expect(local.filter(({ to }) => to.startsWith('..')).map(shown)).toEqual([]);
    const inFolders = local.map(({ from }) => from.split('/')).filter((path) => path.length > 1);
    expect([...new Set(inFolders.map(([first]) => first!))].filter((name) => !folders.includes(name))).toEqual([]);
    const ordered = folders.filter((folder) => !order.includes(folder));
    const parts = inFolders.filter(([first, , third]) => ordered.includes(first!) && third !== undefined);
    expect(
      [...new Set(parts.map((path) => path.slice(0, 2).join('/')))].filter((part) => !order.includes(part)),
    ).toEqual([]);
  });

  it('name each engine in its own folder and in the list of adapters alone, which the composition root alone imports', () => {
    const outside = (allowed: (from: string) => boolean, named: (to: string) => boolean) =>
      everyImport.filter(({ from, to }) => named(to) && !allowed(from)).map(shown);
    const testsThePort = (path: string) => isTest(path) && isIn(path, 'engine');
    const listsAdapters = (path: string) => path === 'engine/adapters.ts';
    const composes = (path: string) => path === 'cli/compose.ts';
    /** The package's exports of one engine alone. */
    const offers = (path: string) => path === 'llama-server.ts';
    const entries = readdirSync(`${root}/src/engine`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const adapters = entries.map(({ name }) => name).filter((name) => !engines.shared.includes(name));
    expect(adapters).toContain('llama-cpp');
    for (const name of adapters) {
      const inAdapter = (path: string) => isIn(path, `engine/${name}`);
      const allowed = (from: string) => [inAdapter, listsAdapters, testsThePort, offers].some((known) => known(from));
      expect(outside(allowed, inAdapter)).toEqual([]);
    }
    for (const name of engines.shared) {
      const inShared = (path: string) => isIn(path, `engine/${name}`);
      const inEngines = (path: string) => path.startsWith('engine/') && path.split('/').length > 2;
      expect(outside((from) => inEngines(from), inShared)).toEqual([]);
    }
    const inLlamaCpp = (path: string) => isIn(path, 'engine/llama-cpp');
    expect(outside(inLlamaCpp, (to) => /^@?node-llama-cpp(\/|$)/.test(to))).toEqual([]);
    expect(outside((from) => composes(from) || testsThePort(from), listsAdapters)).toEqual([]);
  });

  it('load neither the bench nor the engine in the process where one engine is exported alone', () => {
    const loaded = new Set(['llama-server.ts']);
    const packages = new Set<string>();
    for (const from of loaded) {
      for (const found of shipped.filter((one) => one.from === from)) {
        (found.isPackage ? packages : loaded).add(found.to);
      }
    }
    const outside = [...packages].filter((name) => !name.startsWith('node:')).map((name) => name.split('/')[0]!);
    expect([...new Set(outside)].sort()).toEqual(['eventsource-parser', 'pure-rand', 'zod']);
    const folders = new Set([...loaded].map((path) => path.split('/')[0]!));
    expect([...folders].sort()).toEqual(['config', 'engine', 'kv', 'llama-server.ts', 'records']);
  });

  it('keep inspect and report away from what answers questions', () => {
    const reads = ({ from }: Import) => readers.layers.some((layer) => isIn(from, layer));
    const answers = ({ to, isPackage }: Import) => !isPackage && readers.closed.some((layer) => isIn(to, layer));
    expect(shipped.filter((found) => reads(found) && answers(found)).map(shown)).toEqual([]);
  });

  it('name no test', () => {
    const all = [...everyImport, ...importsIn(`${root}/scripts`), ...importsIn(`${root}/test`)];
    expect(all.filter(({ to }) => isTest(to)).map(shown)).toEqual([]);
  });
});

describe('the graph of imports', () => {
  it('has every kind of import, and its line', () => {
    const source = [
      `import a from './a.ts';`,
      `import type { B } from '../b.ts';`,
      `export { c } from './c/c.ts';`,
      `export * from '../d.ts';`,
      `const e = await import('./e.ts');`,
      `type F = import('./f.ts').F;`,
      `import 'node:fs';`,
      `// import g from './g.ts'`,
      'const h = `import h from "./h.ts"`;',
    ].join('\n');
    const found = importsOf('x/y.ts', source);
    expect(found.map(({ line, to }) => [line, to])).toEqual([
      [1, 'x/a.ts'],
      [2, 'b.ts'],
      [3, 'x/c/c.ts'],
      [4, 'd.ts'],
      [5, 'x/e.ts'],
      [6, 'x/f.ts'],
      [7, 'node:fs'],
    ]);
    expect(found.filter(({ isPackage }) => isPackage).map(({ to }) => to)).toEqual(['node:fs']);
  });

  /** Imports as `from → to`, in files of one line. */
  const planted = (...pairs: [string, string][]): Import[] =>
    pairs.map(([from, to]) => ({ from, to, line: 1, isPackage: false }));

  it('shows a cycle at the level where it is, with the files that make it', () => {
    const imports = planted(
      ['kv/store.ts', 'kv/join/join.ts'],
      ['kv/join/join.ts', 'kv/join/rotate.ts'],
      ['kv/join/rotate.ts', 'kv/layout.ts'],
      ['kv/layout.ts', 'db/rows.ts'],
    );
    expect(cyclesOf(imports)).toEqual([]);
    const [cycle, ...others] = cyclesOf([...imports, ...planted(['kv/layout.ts', 'kv/store.ts'])]);
    expect(others).toEqual([]);
    expect(described(cycle!)).toBe(
      [
        'src/kv: join, layout.ts, store.ts import each other:',
        '  src/kv/store.ts:1 imports kv/join/join.ts',
        '  src/kv/join/rotate.ts:1 imports kv/layout.ts',
        '  src/kv/layout.ts:1 imports kv/store.ts',
      ].join('\n'),
    );
    expect(cyclesOf(planted(['db/a.ts', 'kv/b.ts'], ['kv/c.ts', 'db/d.ts'])).map(({ folder }) => folder)).toEqual(['']);
  });

  it('knows up from down, between layers and between the folders of one', () => {
    const up = planted(
      ['db/x.ts', 'eval/run/y.ts'],
      ['systems/prompt/x.ts', 'systems/arms/y.ts'],
      ['cli/x.ts', 'index.ts'],
    );
    const down = planted(
      ['eval/run/x.ts', 'db/y.ts'],
      ['systems/arms/x.ts', 'systems/prompt/y.ts'],
      ['index.ts', 'cli/x.ts'],
    );
    expect(up.map(runsUpwards)).toEqual([true, true, true]);
    expect(down.map(runsUpwards)).toEqual([false, false, false]);
  });
});

/** Lints a text as if it were the file, by the repository's own rules, but for those that need the type checker. */
async function restrictedImports(filePath: string, source: string): Promise<string[]> {
  const eslint = new ESLint({
    cwd: root,
    overrideConfig: [{ ...tseslint.configs.disableTypeChecked, files: ['**/*.ts'] }],
  });
  const [result] = await eslint.lintText(source, { filePath });
  const fatal = result!.messages.filter((message) => message.fatal);
  expect(fatal).toEqual([]);
  return result!.messages.filter((message) => message.ruleId === 'no-restricted-imports').map((m) => m.message);
}

describe('the lint rule', () => {
  it('says so in the editor where an import runs upwards, types and re-exports included', async () => {
    const cases: [string, string, number][] = [
      ['src/eval/run/x.ts', '../../systems/a.ts', 0],
      ['src/report/x.ts', '../eval/a.ts', 0],
      ['src/eval/suites/x.ts', '../run/a.ts', 0],
      ['src/db/x.ts', '../eval/a.ts', 1],
      ['src/kv/deep/x.ts', '../../systems/a.ts', 1],
      ['src/eval/run/x.ts', '../suites/a.ts', 1],
      ['src/systems/prompt/x.ts', '../arms/a.ts', 1],
      ...readers.closed.map((layer): [string, string, number] => ['src/report/x.ts', `../${layer}/a.ts`, 1]),
    ];
    for (const [file, specifier, count] of cases) {
      expect([file, specifier, await restrictedImports(file, `export { a } from '${specifier}';\n`)]).toEqual([
        file,
        specifier,
        Array.from({ length: count }, () => expect.stringContaining('imports run downwards') as string),
      ]);
    }
    expect(
      await restrictedImports('src/db/x.ts', `import type { A } from '../eval/a.ts';\nexport type B = A;\n`),
    ).toHaveLength(1);
  });

  it.each([
    ['../../memory-namespace.ts', 1],
    ['../../salience/full-text-index.ts', 1],
    ['../hierarchical-memory.ts', 1],
    ['../hinted-retriever.ts', 1],
    ['../../../db/database.ts', 1],
    ['../../../embedding/embedding-service.ts', 1],
    ['../../../engine/engine.ts', 1],
    ['better-sqlite3', 1],
    ['node:fs', 1],
    ['ioredis', 1],
    ['./query-record.ts', 0],
    ['../../text-terms.ts', 0],
    ['../../../config/bench-error.ts', 0],
    ['zod', 0],
  ])('keeps the preparation of questions away from every store: %s', async (specifier, count) => {
    const file = 'src/retrieval/hinted/pre-retrieval/x.ts';
    expect(await restrictedImports(file, `import { a } from '${specifier}';\na();\n`)).toHaveLength(count);
    expect(await restrictedImports(file, `import type { A } from '${specifier}';\nexport type B = A;\n`)).toHaveLength(
      count,
    );
  });

  it('lets nothing import from a test', async () => {
    expect(await restrictedImports('src/eval/x.ts', `import { a } from './a.test.ts';\na();\n`)).toHaveLength(1);
    expect(await restrictedImports('scripts/x.ts', `import { a } from '../src/eval/a.test.ts';\na();\n`)).toHaveLength(
      1,
    );
  });
});
