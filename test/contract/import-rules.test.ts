import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cruise, type IConfiguration, type ICruiseResult } from 'dependency-cruiser';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../model/bench-fixture.ts';

const root = join(import.meta.dirname, '../..');
const { default: rules } = (await import(join(root, '.dependency-cruiser.mjs'))) as { default: IConfiguration };

/** The rules that a project of these files violates, each once, sorted. */
async function violations(files: Record<string, string>): Promise<string[]> {
  using folder = new TestFolder();
  for (const name of ['node_modules', 'tsconfig.json']) symlinkSync(join(root, name), folder.file(name));
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(folder.file(path)), { recursive: true });
    writeFileSync(folder.file(path), source);
  }
  const { output } = await cruise(['src'], { ...rules.options, baseDir: folder.path, validate: true, ruleSet: rules });
  return [...new Set((output as ICruiseResult).summary.violations.map(({ rule }) => rule.name))].sort();
}

describe('the import rules', () => {
  it('hold in src', async () => {
    const { output } = await cruise(['src'], { ...rules.options, baseDir: root, validate: true, ruleSet: rules });
    const { summary, modules } = output as ICruiseResult;
    expect(modules.filter(({ source }) => source.startsWith('src/')).length).toBeGreaterThan(300);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  it.each([
    ['config imports nothing above it', 'src/config/x.ts', '../store/a.ts'],
    ['store imports nothing above it', 'src/store/records/x.ts', '../../eval/run/a.ts'],
    ['eval/analysis imports nothing above it', 'src/eval/analysis/x.ts', '../run/a.ts'],
    ['systems/prompt imports nothing above it', 'src/systems/prompt/x.ts', '../arms/a.ts'],
    ['viewer and report read stored runs', 'src/viewer/x.ts', '../kv/a.ts'],
    ['viewer and report read stored runs', 'src/report/x.ts', '../engine/a.ts'],
    ['engine/llama-cpp is imported through engine/adapters.ts', 'src/systems/x.ts', '../engine/llama-cpp/a.ts'],
    ['engine/openai is imported through engine/adapters.ts', 'src/engine/llama-cpp/x.ts', '../openai/a.ts'],
    ['the list of adapters is for the bench', 'src/eval/run/x.ts', '../../engine/adapters.ts'],
    ['node-llama-cpp belongs to its adapter', 'src/engine/openai/x.ts', 'node-llama-cpp'],
    ['pre-retrieval sees the question alone', 'src/retrieval/hinted/pre-retrieval/x.ts', '../hinted-retriever.ts'],
    ['pre-retrieval sees the question alone', 'src/retrieval/hinted/pre-retrieval/x.ts', '../../../store/a.ts'],
    ['nothing imports a test', 'src/kv/x.ts', './y.test.ts'],
  ])('refuse by "%s" that %s imports %s', async (rule, from, to) => {
    const target = to.startsWith('.') ? { [join(dirname(from), to)]: 'export interface A {}\n' } : {};
    const source = `import type { A } from '${to}';\nexport type B = A;\n`;
    expect(await violations({ [from]: source, ...target })).toEqual([rule]);
  });

  it('refuse a cycle, and what an entry reaches through others', async () => {
    const cycle = { 'src/kv/a.ts': `export * from './b.ts';\n`, 'src/kv/b.ts': `export * from './a.ts';\n` };
    expect(await violations(cycle)).toEqual(['no cycle']);
    const entry = {
      'src/llama-server.ts': `export * from './engine/a.ts';\n`,
      'src/engine/a.ts': `export * from '../store/b.ts';\n`,
      'src/store/b.ts': 'export const b = 1;\n',
    };
    expect(await violations(entry)).toEqual(['the llama-server entry loads no bench and no other engine']);
  });

  it('allow what runs down', async () => {
    const files = {
      'src/viewer/a.ts': `export * from '../eval/analysis/b.ts';\n`,
      'src/eval/analysis/b.ts': `export * from '../../base/c.ts';\n`,
      'src/base/c.ts': 'export const c = 1;\n',
    };
    expect(await violations(files)).toEqual([]);
  });
});
