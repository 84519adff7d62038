import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { CheckpointFolder } from './checkpoint-storage.ts';

/** More than Node reads in one call. */
const BYTES = 2 ** 31 + 4096;

/** Writes a byte far into a file, which it fills with zeros up to there. */
function mark(path: string, place: number, byte: number): void {
  const file = openSync(path, 'a+');
  ftruncateSync(file, BYTES);
  closeSync(file);
  const opened = openSync(path, 'r+');
  writeSync(opened, Uint8Array.of(byte), 0, 1, place);
  closeSync(opened);
}

it('stores, reads and verifies KV of more than 2 GiB', async () => {
  using folder = new TestFolder();
  const checkpoints = new CheckpointFolder(folder.path);
  const written = await checkpoints.write('large', (path) => {
    mark(path, BYTES - 1, 7);
    return Promise.resolve(BYTES);
  });
  expect(written.content.length).toBe(BYTES);
  const checkpoint = { id: 'large', tokens: [1], stateIdentity: 'x', bytes: BYTES, sha256: written.sha256 };
  const { bytes } = checkpoints.read(checkpoint);
  expect([bytes.length, bytes[0], bytes[BYTES - 1]]).toEqual([BYTES, 0, 7]);
  mark(folder.file('large.state'), BYTES - 2, 1);
  expect(() => checkpoints.read(checkpoint)).toThrow('its bytes have changed since it was saved');
});
