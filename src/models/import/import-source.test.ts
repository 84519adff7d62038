import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { openImportSource } from './import-source.ts';

it('a link to itself is named, and nobody waits for a pipe', async () => {
  using folder = new TestFolder();
  const [loop, pipe] = [folder.file('loop'), folder.file('pipe.gguf')];
  symlinkSync(loop, loop);
  spawnSync('mkfifo', [pipe]);
  await expectFailure(openImportSource(loop), 'bad-data', `${loop}: cannot be read: ELOOP`);
  await expectFailure(openImportSource(pipe), 'bad-data', `${pipe}: neither a GGUF file nor a zip archive`);
  await expect(openImportSource(folder.file('none'))).rejects.toMatchObject({ code: 'not-found' });
});
