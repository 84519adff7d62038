import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

it('compiles the program that the README shows', () => {
  const [, program] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))!;
  const file = join(root, 'test/contract/readme-program.ts');
  try {
    writeFileSync(file, program!.replace("'dki-bench'", "'../../src/index.ts'"));
    const options = ['--noEmit', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,esnext.disposable'];
    const strict = ['--strict', '--allowImportingTsExtensions', '--skipLibCheck', '--types', 'node', '--ignoreConfig'];
    const compiled = spawnSync('node_modules/.bin/tsc', [...options, ...strict, file], { cwd: root, encoding: 'utf8' });
    expect(compiled.stdout).toBe('');
    expect(compiled.status).toBe(0);
  } finally {
    rmSync(file, { force: true });
  }
});
