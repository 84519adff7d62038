import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { errorLike } from '../../test/fixtures/error-like.ts';
import { fakeAdapter } from '../../test/fixtures/fake-engine/fake-adapter.ts';
import { folderOfEachTest } from '../../test/fixtures/folder-of-each-test.ts';
import { copyOf, keyDifference, movedCells } from '../../test/fixtures/moved-cells.ts';
import { plainState, smallLayout } from '../../test/fixtures/plain-states.ts';
import { readNumbers } from '../base/float16.ts';
import type { KvLayout, Rotary, SequenceState } from '../engine/sequence-state.ts';
import { externalKvName, type KvFileEngine, readExternalKv, writeExternalKv } from './external-kv-file.ts';
import { readSafetensors, type Safetensors, type Tensor, writeSafetensors } from './safetensors.ts';

const folder = folderOfEachTest();
const rotary: Rotary = { base: 10_000, scale: 1, pairing: 'norm', dimensions: 16, factors: null };
const ids = [7, -1, 9, 11, 2];

await using fake = await fakeAdapter.opener({}).open({ model: 'fake' });
const { info, capabilities } = fake;

function engineWith(layout: KvLayout = smallLayout, change: Partial<Rotary> = {}, gaps = true): KvFileEngine {
  const cells = { layout, rotary: { ...rotary, ...change }, sharedPositions: false, gaps };
  return { info, capabilities: { ...capabilities, cells } };
}

async function reread(bytes: Uint8Array, engine: KvFileEngine): Promise<SequenceState> {
  const path = folder.file('kv.safetensors');
  await writeFile(path, bytes);
  return (await readExternalKv(path, engine))!.state;
}

/** The file of a state, changed. */
function changedFile(
  change: (file: { metadata: Record<string, string>; tensors: Map<string, Tensor> }) => void,
  state = plainState(smallLayout, ids),
): Uint8Array {
  const { metadata, tensors }: Safetensors = readSafetensors(writeExternalKv(state, engineWith()));
  const file = { metadata: { ...metadata }, tensors: new Map(tensors) };
  change(file);
  return writeSafetensors(file);
}

it.each<Partial<KvLayout>>([{}, { valuesTransposed: false }, { keyType: 'F32', valueType: 'F32' }])(
  'gives back, bit by bit, the cells that were written: %o',
  async (change) => {
    const layout = { ...smallLayout, ...change };
    const state = plainState(layout, ids, { start: 3 });
    expect(copyOf(await reread(writeExternalKv(state, engineWith(layout)), engineWith(layout)))).toEqual(copyOf(state));
  },
);

it('names a file by the user, and by the prefix', () => {
  // As `printf ada | sha256sum` begins.
  expect(externalKvName('ada')).toBe('fdee430d40bd57de.safetensors');
  expect(externalKvName('ada', [1, 2])).toMatch(/^fdee430d40bd57de-[0-9a-f]{16}\.safetensors$/);
  expect(externalKvName('ada', [1, 2])).not.toBe(externalKvName('ada', [1, 3]));
});

describe('reads what others write:', () => {
  const halves = (pair: number): readonly [number, number] => [pair, pair + 8];
  /** Keys of heads of 16 numbers, from interleaved pairs to halves. */
  function asHalves({ type, shape, bytes }: Tensor): Tensor {
    const numbers = new Uint16Array(new Uint8Array(bytes).buffer);
    const moved = numbers.map((_, index) => {
      const [start, at] = [index - (index % 16), index % 16];
      const pair = at % 8;
      return numbers[start + 2 * pair + (halves(pair)[0] === at ? 0 : 1)]!;
    });
    return { type, shape, bytes: new Uint8Array(moved.buffer) };
  }

  it('keys whose pairs are halves of a head', async () => {
    const state = plainState(smallLayout, ids);
    const bytes = changedFile(({ metadata, tensors }) => {
      metadata['rope_pairing'] = 'half';
      for (const name of ['keys.0', 'keys.1']) tensors.set(name, asHalves(tensors.get(name)!));
    }, state);
    expect(copyOf(await reread(bytes, engineWith()))).toEqual(copyOf(state));
  });

  it('keys without RoPE, which it rotates to their positions', async () => {
    const single = plainState(smallLayout, [7]);
    const bytes = changedFile(({ metadata, tensors }) => {
      metadata['rope'] = 'none';
      tensors.set('positions', { type: 'I64', shape: [1], bytes: new Uint8Array(BigInt64Array.of(130n).buffer) });
    }, single);
    expect(keyDifference(await reread(bytes, engineWith()), movedCells(single, rotary, 130))).toBeLessThan(1e-3);
  });

  it('numbers of 16 bits with the range of 32', async () => {
    const layout: KvLayout = { ...smallLayout, layers: 1, keyType: 'F32', valueType: 'F32', valuesTransposed: false };
    const state = plainState(layout, [7]);
    const { metadata, tensors } = readSafetensors(writeExternalKv(state, engineWith(layout)));
    const half = ({ shape, bytes }: Tensor): Tensor => {
      const upper = new Uint16Array(new Uint8Array(bytes).buffer).filter((_, index) => index % 2 === 1);
      return { type: 'BF16', shape, bytes: new Uint8Array(upper.buffer) };
    };
    const file = { metadata, tensors: new Map(tensors).set('values.0', half(tensors.get('values.0')!)) };
    const read = await reread(writeSafetensors(file), engineWith(layout));
    const [found, exact] = [read, state].map(({ values }) => readNumbers(values[0]!, 'F32'));
    found!.forEach((number, index) => expect(Math.abs(number / exact![index]! - 1)).toBeLessThan(2 ** -7));
    expect(found).not.toEqual(exact);
  });
});

it('returns undefined if there is no file', async () => {
  expect(await readExternalKv(folder.file('none.safetensors'), engineWith())).toBeUndefined();
});

describe('is refused:', () => {
  const f32 = (shape: number[], ...numbers: number[]): Tensor => ({
    ...{ type: 'F32', shape },
    bytes: new Uint8Array(Float32Array.from({ length: 2 * ids.length * 16 }, (_, at) => numbers[at] ?? 0).buffer),
  });
  const list = (...numbers: number[]): Tensor => ({
    ...{ type: 'I32', shape: [numbers.length] },
    bytes: new Uint8Array(Int32Array.from(numbers).buffer),
  });
  const shape = [2, ids.length, 16];

  it.each<[string, string, string, Parameters<typeof changedFile>[0]]>([
    [
      'another model',
      'bad-model',
      'KV of another model: sha-256 abababababab…',
      ({ metadata }) => (metadata['model_sha256'] = 'ab'.repeat(32)),
    ],
    [
      'another base of RoPE',
      'bad-model',
      'keys for RoPE base 500000',
      ({ metadata }) => (metadata['rope_base'] = '500000'),
    ],
    ['another format', 'bad-data', 'metadata format', ({ metadata }) => (metadata['format'] = 'other/1')],
    ['an unknown pairing', 'bad-data', 'metadata rope_pairing', ({ metadata }) => (metadata['rope_pairing'] = 'no')],
    ['a missing layer', 'bad-data', 'it has no tensor values.1', ({ tensors }) => tensors.delete('values.1')],
    ['a layer too many', 'bad-data', 'only 2 layers', ({ tensors }) => tensors.set('keys.2', f32(shape))],
    [
      'another shape',
      'bad-data',
      'values.0 has shape [5, 2, 16]; expected [2, 5, 16]',
      ({ tensors }) => tensors.set('values.0', f32([5, 2, 16])),
    ],
    [
      'what is no number',
      'bad-data',
      'keys.1 has numbers that are not finite',
      ({ tensors }) => tensors.set('keys.1', f32(shape, 1, NaN)),
    ],
    [
      'a number beyond 16 bits',
      'bad-data',
      'values.1 has numbers that are too large',
      ({ tensors }) => tensors.set('values.1', f32(shape, 7e4)),
    ],
    [
      'integers as KV',
      'bad-data',
      'keys.0 has type I32',
      ({ tensors }) => tensors.set('keys.0', { ...f32(shape), type: 'I32' }),
    ],
    ['too few tokens', 'bad-data', '5 positions and 1 token ids', ({ tensors }) => tensors.set('token_ids', list(7))],
    [
      'a token of another vocabulary',
      'bad-data',
      'token id 9000000',
      ({ tensors }) => tensors.set('token_ids', list(1, 2, 9_000_000, 3, 4)),
    ],
    [
      'a negative position',
      'bad-data',
      'a position below 0',
      ({ tensors }) => tensors.set('positions', list(-1, 0, 1, 2, 3)),
    ],
    [
      'positions that two cells share',
      'bad-data',
      'cells that share a position',
      ({ tensors }) => tensors.set('positions', list(0, 1, 1, 2, 3)),
    ],
  ])('%s', async (_, code, why, change) => {
    await expect(reread(changedFile(change), engineWith())).rejects.toMatchObject(errorLike(code, why));
  });

  it('gaps, if the engine does not accept any', async () => {
    const bytes = changedFile(({ tensors }) => tensors.set('positions', list(0, 1, 3, 4, 5)));
    expect([...(await reread(bytes, engineWith())).positions]).toEqual([0, 1, 3, 4, 5]);
    await expect(reread(bytes, engineWith(smallLayout, {}, false))).rejects.toThrow('gaps between positions');
  });

  const whole = writeExternalKv(plainState(smallLayout, ids), engineWith());
  it.each([
    ['an empty file', new Uint8Array(), 'too short for a safetensors file'],
    ['a file that is cut short', whole.subarray(0, -1), 'tensor values.1 is cut short'],
    ['a header that is cut short', whole.subarray(0, 40), 'its header is cut short'],
    ['another file', Buffer.concat([Buffer.of(2, 0, 0, 0, 0, 0, 0, 0), Buffer.from('no')]), 'its header is not JSON'],
  ])('%s', async (_, bytes, why) => {
    await expect(reread(bytes, engineWith())).rejects.toMatchObject(errorLike('bad-data', why));
  });
});
