import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Checkpoint } from '../session-checkpoint.ts';
import { CheckpointMemory, type StateHead } from './checkpoint-memory.ts';

const head: StateHead = {
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
  it('are found by the checkpoint and the file that they were made of, and lie in no folder', () => {
    const names = readdirSync('/dev/shm');
    using states = new CheckpointMemory(5000);
    const checkpoint = checkpointOf('one');
    states.keep(checkpoint, 'file', contentOf(1), head);
    expect(readdirSync('/dev/shm').filter((name) => !names.includes(name) && name.startsWith('dki-bench'))).toEqual([]);
    using copy = states.find(checkpoint, 'file');
    expect(copy!.head).toEqual(head);
    expect(new Uint8Array(readFileSync(copy!.path))).toEqual(contentOf(1));
    expect(states.find(checkpointOf('two'), 'file')).toBeUndefined();
  });

  it.each<[string, Checkpoint, string | undefined]>([
    ['the file was touched', checkpointOf('one'), 'other file'],
    ['the file is gone', checkpointOf('one'), undefined],
    ['the checkpoint has other bytes', { ...checkpointOf('one'), sha256: 'b'.repeat(64) }, 'file'],
    ['the checkpoint has another size', checkpointOf('one', 1001), 'file'],
  ])('are given up where %s', (_, checkpoint, identity) => {
    using states = new CheckpointMemory(5000);
    states.keep(checkpointOf('one'), 'file', contentOf(1), head);
    expect(states.find(checkpoint, identity)).toBeUndefined();
    expect(states.sizeBytes).toBe(0);
    expect(states.find(checkpointOf('one'), 'file')).toBeUndefined();
  });

  it('stay within their bound: the longest unused goes first, and what is larger is not kept', () => {
    using states = new CheckpointMemory(2500);
    for (const id of ['one', 'two']) states.keep(checkpointOf(id), 'file', contentOf(1), head);
    states.find(checkpointOf('one'), 'file')![Symbol.dispose]();
    states.keep(checkpointOf('three'), 'file', contentOf(3), head);
    states.keep(checkpointOf('large', 3000), 'file', contentOf(4, 3000), head);
    expect(states.sizeBytes).toBe(2000);
    const found = ['one', 'two', 'three', 'large'].filter((id) => {
      using copy = states.find(checkpointOf(id, id === 'large' ? 3000 : 1000), 'file');
      return copy !== undefined;
    });
    expect(found).toEqual(['one', 'three']);
  });

  it('can be read to the end by whoever found them, whatever is forgotten meanwhile', () => {
    using states = new CheckpointMemory(5000);
    const checkpoint = checkpointOf('one');
    states.keep(checkpoint, 'file', contentOf(1), head);
    const copy = states.find(checkpoint, 'file')!;
    states.forget('one');
    expect(states.find(checkpoint, 'file')).toBeUndefined();
    states.keep(checkpointOf('two'), 'file', contentOf(2), head);
    expect(new Uint8Array(readFileSync(copy.path))).toEqual(contentOf(1));
    copy[Symbol.dispose]();
    expect(existsSync(copy.path)).toBe(false);
  });
});
