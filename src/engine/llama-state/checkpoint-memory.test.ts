import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Checkpoint } from '../engine-session.ts';
import { CheckpointMemory, type StateHeader } from './checkpoint-storage.ts';

const header: StateHeader = {
  tokens: Int32Array.of(4, 5),
  positions: Int32Array.of(0, 1),
  tensors: { layers: 1, keyType: 'F16', valueType: 'F16', keyRowBytes: 64, valueRowBytes: 64, valuesTransposed: true },
};

function checkpointOf(id: string, bytes = 1000): Checkpoint {
  return { id, bytes, tokens: [4, 5], sha256: 'a'.repeat(64), stateIdentity: 'x' };
}

/** Bytes of a file that can be told from those of other files. */
const contentOf = (number: number, sizeBytes = 1000): Uint8Array => new Uint8Array(sizeBytes).fill(number);

describe.runIf(existsSync('/dev/shm'))('copies of checkpoints in memory', () => {
  it('are found by their checkpoint and file, and are in no folder', () => {
    const names = readdirSync('/dev/shm');
    using states = new CheckpointMemory(5000);
    const checkpoint = checkpointOf('one');
    states.store(checkpoint, 'file', contentOf(1), header);
    expect(readdirSync('/dev/shm').filter((name) => !names.includes(name) && name.startsWith('dki-bench'))).toEqual([]);
    using copy = states.find(checkpoint, 'file');
    expect(copy!.header).toEqual(header);
    expect(new Uint8Array(readFileSync(copy!.path))).toEqual(contentOf(1));
    expect(states.find(checkpointOf('two'), 'file')).toBeUndefined();
  });

  it.each<[string, Checkpoint, string | undefined]>([
    ['the file was touched', checkpointOf('one'), 'other file'],
    ['the file is gone', checkpointOf('one'), undefined],
    ['the checkpoint has other bytes', { ...checkpointOf('one'), sha256: 'b'.repeat(64) }, 'file'],
    ['the checkpoint has another size', checkpointOf('one', 1001), 'file'],
  ])('are dropped if %s', (_, checkpoint, identity) => {
    using states = new CheckpointMemory(5000);
    states.store(checkpointOf('one'), 'file', contentOf(1), header);
    expect(states.find(checkpoint, identity)).toBeUndefined();
    expect(states.find(checkpointOf('one'), 'file')).toBeUndefined();
  });

  it('stay within their limit: the least recently used goes first, and larger ones are not stored', () => {
    using states = new CheckpointMemory(2500);
    for (const id of ['one', 'two']) states.store(checkpointOf(id), 'file', contentOf(1), header);
    states.find(checkpointOf('one'), 'file')![Symbol.dispose]();
    states.store(checkpointOf('three'), 'file', contentOf(3), header);
    states.store(checkpointOf('large', 3000), 'file', contentOf(4, 3000), header);
    const found = ['one', 'two', 'three', 'large'].filter((id) => {
      using copy = states.find(checkpointOf(id, id === 'large' ? 3000 : 1000), 'file');
      return copy !== undefined;
    });
    expect(found).toEqual(['one', 'three']);
  });

  it('stay readable after they are deleted, until the reader disposes of them', () => {
    using states = new CheckpointMemory(5000);
    const checkpoint = checkpointOf('one');
    states.store(checkpoint, 'file', contentOf(1), header);
    const copy = states.find(checkpoint, 'file')!;
    states.delete('one');
    expect(states.find(checkpoint, 'file')).toBeUndefined();
    states.store(checkpointOf('two'), 'file', contentOf(2), header);
    expect(new Uint8Array(readFileSync(copy.path))).toEqual(contentOf(1));
    copy[Symbol.dispose]();
    expect(existsSync(copy.path)).toBe(false);
  });
});
