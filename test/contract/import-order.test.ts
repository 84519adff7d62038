import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

/** Lints a text as if it were the file, by the repository's own rules, but for those that need the type checker. */
async function restrictedImports(filePath: string, source: string): Promise<string[]> {
  const eslint = new ESLint({
    cwd: new URL('../..', import.meta.url).pathname,
    overrideConfig: [{ ...tseslint.configs.disableTypeChecked, files: ['**/*.ts'] }],
  });
  const [result] = await eslint.lintText(source, { filePath });
  const fatal = result!.messages.filter((message) => message.fatal);
  expect(fatal).toEqual([]);
  return result!.messages.filter((message) => message.ruleId === 'no-restricted-imports').map((m) => m.message);
}

describe('the order of the rooms', () => {
  it('lets a room import one below it', async () => {
    expect(await restrictedImports('src/eval/x.ts', `import { a } from '../systems/a.ts';\na();\n`)).toEqual([]);
    expect(
      await restrictedImports('src/report/x.ts', `import type { A } from '../eval/a.ts';\nexport type B = A;\n`),
    ).toEqual([]);
  });

  it('stops an import upwards, from any depth, types included', async () => {
    const [message] = await restrictedImports('src/db/x.ts', `import { a } from '../eval/a.ts';\na();\n`);
    expect(message).toContain('src/db does not import src/eval');
    const deep = await restrictedImports(
      'src/kv/deep/x.ts',
      `import type { A } from '../../systems/a.ts';\nexport type B = A;\n`,
    );
    expect(deep).toHaveLength(1);
    expect(await restrictedImports('src/kv/x.ts', `export { a } from '../systems/a.ts';\n`)).toHaveLength(1);
  });

  it.each(['systems', 'memory', 'kv', 'llm'])(
    'keeps report and inspect away from %s, though it is below them',
    async (room) => {
      for (const reader of ['report', 'inspect']) {
        const messages = await restrictedImports(`src/${reader}/x.ts`, `import { a } from '../${room}/a.ts';\na();\n`);
        expect(messages).toHaveLength(1);
      }
    },
  );

  it.each([
    ['../../../memory-namespace.ts', 1],
    ['../../salience/full-text-index.ts', 1],
    ['../hierarchical-memory.ts', 1],
    ['../hinted-retriever.ts', 1],
    ['../../../../db/database.ts', 1],
    ['../../../../embedding/embedding-service.ts', 1],
    ['../../../../llm/language-model.ts', 1],
    ['better-sqlite3', 1],
    ['node:fs', 1],
    ['ioredis', 1],
    ['./query-record.ts', 0],
    ['../../../text-terms.ts', 0],
    ['../../../../config/bench-error.ts', 0],
    ['zod', 0],
  ])('keeps the preparation of questions away from every store: %s', async (specifier, count) => {
    const file = 'src/memory/strategies/hinted/pre-retrieval/x.ts';
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
