import { appendFileSync, cpSync, existsSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { runProcess } from '../test/fixtures/run-process.ts';
import { TestFolder } from '../test/model/bench-fixture.ts';

/** A package root without node_modules, so that whatever is installed here cannot be found. */
let root: string;
beforeEach(() => {
  const folder = new TestFolder();
  root = realpathSync(folder.path);
  for (const part of ['postinstall.mjs', 'native-addon.mjs', 'faiss', 'kv-kernels']) {
    cpSync(join(import.meta.dirname, part), join(root, 'scripts', part), { recursive: true });
  }
  return () => folder[Symbol.dispose]();
});

test('without faiss-node and without compilers it says in a line for each part what is used instead, and succeeds', async () => {
  const { code, stdout } = await runProcess([process.execPath, join(root, 'scripts', 'postinstall.mjs')], {
    environment: { CC: join(root, 'no-c'), CXX: join(root, 'no-compiler'), NODE_PATH: '' },
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^dki-bench: exact [^\n]+ by TypeScript instead of FAISS \(no faiss-node, no [^\n]+\)\ndki-bench: KV blocks are moved by WebAssembly instead of native kernels \(no [^\n]+no-c\)\n$/,
  );
  expect(existsSync(join(root, 'build'))).toBe(false);
});

test('what does not rotate a key, and what older sources were compiled to, is compiled again', async () => {
  symlinkSync(join(import.meta.dirname, '../node_modules'), join(root, 'node_modules'));
  const prepare = `import { prepareKvKernels } from '${join(root, 'scripts/kv-kernels/prepare-kv-kernels.mjs')}';
    console.log(prepareKvKernels());`;
  const prepared = async (): Promise<string> =>
    (await runProcess([process.execPath, '--input-type=module', '-e', prepare])).stdout.trim();
  const addon = join(root, 'build/kv-kernels/kv-kernels.node');
  expect(await prepared()).toBe('null');
  const compiled = readFileSync(addon);
  writeFileSync(addon, 'no addon');
  expect(await prepared()).toBe('null');
  expect(readFileSync(addon).equals(compiled)).toBe(true);
  appendFileSync(join(root, 'scripts/kv-kernels/rotate.h'), '\n#error "broken"\n');
  expect(await prepared()).toMatch(/^building them failed: .*broken/);
  expect(existsSync(addon)).toBe(false);
});
