import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProcess } from '../test/fixtures/run-process.ts';
import { TestFolder } from '../test/model/bench-fixture.ts';

test("the viewer's script opens with the licence of each package in it", async () => {
  using folder = new TestFolder();
  const out = folder.file('viewer.js');
  const build = await runProcess([process.execPath, join(import.meta.dirname, 'build-viewer.mjs'), '--out', out]);
  expect(build).toEqual({ code: 0, stdout: '', stderr: '' });
  const [, licence] = /^\/\*\npreact\n\n([\s\S]+?)\*\/\n"use strict"/.exec(readFileSync(out, 'utf8'))!;
  expect(licence).toBe(readFileSync(join(import.meta.dirname, '../node_modules/preact/LICENSE'), 'utf8'));
});
