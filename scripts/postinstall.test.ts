import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProcess } from '../test/fixtures/run-process.ts';

const scripts = fileURLToPath(new URL('.', import.meta.url));

test('without faiss-node and without a compiler it says in one line what is used instead, and succeeds', async () => {
  // A package root without node_modules, so that whatever is installed here cannot be found.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dki-bench-install-')));
  try {
    for (const part of ['postinstall.mjs', 'run-program.mjs', 'faiss'])
      cpSync(join(scripts, part), join(root, 'scripts', part), { recursive: true });
    const { code, stdout } = await runProcess([process.execPath, join(root, 'scripts', 'postinstall.mjs')], {
      environment: { CXX: join(root, 'no-compiler'), NODE_PATH: '' },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^dki-bench: exact vector search by usearch instead of FAISS \(no faiss-node, no [^\n]+\)\n$/,
    );
    expect(existsSync(join(root, 'build'))).toBe(false);
  } finally {
    rmSync(root, { recursive: true });
  }
});
