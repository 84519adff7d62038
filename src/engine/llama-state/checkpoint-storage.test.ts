import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorLike } from '../../../test/fixtures/error-like.ts';
import { irregularFiles } from '../../../test/fixtures/irregular-files.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { hostInFileName } from '../../base/is-process-running.ts';
import { CheckpointFolder } from './checkpoint-storage.ts';

it.each(irregularFiles)('%s instead of a KV file is refused, and can be deleted', async (_, make) => {
  using folder = new TestFolder();
  const checkpoints = new CheckpointFolder(folder.path);
  const written = await checkpoints.write('one', (path) => {
    writeFileSync(path, 'state');
    return Promise.resolve(5);
  });
  const checkpoint = { id: 'one', tokens: [1], stateIdentity: 'x', ...written };
  expect(Buffer.from(checkpoints.read(checkpoint).bytes).toString()).toBe('state');
  const state = folder.file('one.state');
  rmSync(state);
  make(state);
  make(folder.file(`two.state.${hostInFileName}-${spawnSync('true').pid}.partial`));
  expect(() => new CheckpointFolder(folder.path).read(checkpoint)).toThrow(
    expect.objectContaining({ code: 'bad-state', message: `${state}: not a regular file` }),
  );
  checkpoints.remove('one');
  expect(() => checkpoints.read(checkpoint)).toThrow('no such KV state');
});

it('the error names a file where the folder should be', async () => {
  using folder = new TestFolder();
  writeFileSync(folder.file('notes'), '');
  const write = new CheckpointFolder(folder.file('notes/checkpoints')).write('one', () => Promise.resolve(0));
  await expect(write).rejects.toMatchObject(errorLike('disk', 'notes'));
});
