import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const scripts = fileURLToPath(new URL('.', import.meta.url));

test('without faiss-node and without a compiler it says in one line what is used instead, and succeeds', () => {
  // A package root without node_modules, so that whatever is installed here cannot be found.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dki-bench-install-')));
  try {
    for (const part of ['postinstall.mjs', 'faiss'])
      cpSync(join(scripts, part), join(root, 'scripts', part), { recursive: true });
    const printed = execFileSync(process.execPath, [join(root, 'scripts', 'postinstall.mjs')], {
      encoding: 'utf8',
      env: { ...process.env, CXX: join(root, 'no-compiler'), NODE_PATH: '' },
    });
    expect(printed).toMatch(
      /^dki-bench: exact vector search by usearch instead of FAISS \(no faiss-node, no [^\n]+\)\n$/,
    );
    expect(existsSync(join(root, 'build'))).toBe(false);
  } finally {
    rmSync(root, { recursive: true });
  }
});
