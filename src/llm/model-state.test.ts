import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presetModels } from '../config/shipped-models.ts';
import { LanguageModel } from './language-model.ts';
import type { TokenId } from './model-info.ts';

const modelPath = presetModels.model;
const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-state-'));
const statePath = join(scratch, 'prefix.state');
const WINDOW = 256;

let model: LanguageModel;
let prefix: readonly TokenId[];
let suffix: readonly TokenId[];
let gold: readonly TokenId[];
let state: Buffer;
beforeAll(async () => {
  model = await LanguageModel.load({ modelPath, contextTokens: WINDOW });
  prefix = [model.info.bosToken ?? 0, ...model.tokenizeText('[1] My sister Ann lives in Leeds.\n[2] I like tea.\n')];
  suffix = model.tokenizeText('\nUser: Where does Ann live?\n\nAI:');
  gold = model.tokenizeText(' Leeds');
  await using sequence = model.openSequence();
  await sequence.evaluate(prefix);
  const { sizeBytes } = await sequence.saveState(statePath);
  state = readFileSync(statePath);
  expect(sizeBytes).toBe(state.length);
});
afterAll(async () => {
  await model.dispose();
  rmSync(scratch, { recursive: true });
});

/** Where, in a state of one stream, the cells begin, and behind them the keys of the first layer. */
const cellsAt = (): number => 12 + 4 * prefix.length + 4 + 4;
const keysAt = (): number => cellsAt() + 12 * prefix.length + 8;

/** The state with its last cell moved, and a token for each position. */
function withLastPosition(bytes: Buffer, position: number): Buffer {
  bytes.writeInt32LE(position, cellsAt() + 12 * (prefix.length - 1));
  bytes.writeInt32LE(position + 1, 8);
  const filler = Buffer.alloc(4 * (position + 1 - prefix.length));
  return Buffer.concat([bytes.subarray(0, 12 + 4 * prefix.length), filler, bytes.subarray(12 + 4 * prefix.length)]);
}

test('a state that was loaded continues bitwise like the text, and evaluates nothing', async () => {
  await using sequence = model.openSequence();
  const asText = await sequence.score([...prefix, ...suffix], gold);
  await sequence.clear();
  const before = sequence.meter;
  await sequence.loadState(statePath);
  expect(sequence.tokens).toEqual(prefix);
  expect(sequence.meter).toEqual(before);
  expect(await sequence.score(suffix, gold)).toEqual(asText);
  await sequence.truncate(prefix.length);
  expect(await sequence.score(suffix, gold)).toEqual(asText);
  // Loaded over what the sequence held.
  await sequence.loadState(statePath);
  expect(await sequence.score(suffix, gold)).toEqual(asText);
});

test('only the complete file appears, of the size that the layout gives', async () => {
  const { layers, kvHeads, headDimension } = model.info;
  const cellBytes = layers * kvHeads! * headDimension * 2 * 2 + 12;
  expect(statSync(statePath).size).toBe(12 + 4 * prefix.length + 16 + prefix.length * cellBytes + layers * 24);
  expect(readdirSync(scratch).filter((name) => name.includes('partial'))).toEqual([]);
  await using sequence = model.openSequence();
  await expect(sequence.saveState(statePath)).rejects.toThrow('an empty sequence has no state to save');
  await sequence.evaluate(prefix);
  await expect(sequence.saveState(join(scratch, 'no', 'folder'))).rejects.toMatchObject({ code: 'disk' });
});

describe('a damaged state', () => {
  const damages: [string, string, (bytes: Buffer) => Buffer][] = [
    ['something else', 'not a llama.cpp state', () => Buffer.from('something else that is long enough')],
    ['an empty file', 'cut short', () => Buffer.alloc(0)],
    ['cut short inside the tokens', 'cut short', (bytes) => bytes.subarray(0, 40)],
    // llama.cpp itself would end the process here.
    ['cut short inside the values', 'cut short', (bytes) => bytes.subarray(0, bytes.length - 100)],
    ['too long', '3 bytes too long', (bytes) => Buffer.concat([bytes, Buffer.alloc(3)])],
    ['a negative position', 'cell 2 has the position -2', (bytes) => (bytes.writeInt32LE(-2, cellsAt() + 24), bytes)],
    ['a position too far', 'the last position is 9999', (bytes) => (bytes.writeInt32LE(9999, cellsAt() + 24), bytes)],
    ['keys of another type', 'the keys of layer 0', (bytes) => (bytes.writeInt32LE(8, keysAt()), bytes)],
    ['a huge row of keys', 'cut short', (bytes) => (bytes.writeInt32LE(1, keysAt() + 8), bytes)],
    // Beyond what is checked here: llama.cpp finds it, and spoils its sequence.
    ['more positions than the window has', 'llama.cpp refuses', (bytes) => withLastPosition(bytes, 2 * WINDOW)],
  ];

  test.each(damages)('%s is refused, and the sequence goes on working', async (_, why, damage) => {
    const path = join(scratch, 'damaged.state');
    writeFileSync(path, damage(Buffer.from(state)));
    await using sequence = model.openSequence();
    const asText = await sequence.score([...prefix, ...suffix], gold);
    const before = sequence.meter;
    await expect(sequence.loadState(path)).rejects.toMatchObject({
      code: 'bad-state',
      message: expect.stringContaining(why) as string,
    });
    expect(sequence.meter).toEqual(before);
    await sequence.clear();
    await sequence.loadState(statePath);
    expect(await sequence.score(suffix, gold)).toEqual(asText);
  });

  test('so is one that is not there', async () => {
    await using sequence = model.openSequence();
    await expect(sequence.loadState(join(scratch, 'none'))).rejects.toMatchObject({ code: 'bad-state' });
  });
});

test('cells are counted where positions are shared', async () => {
  const path = join(scratch, 'shared.state');
  const positions = Math.ceil(prefix.length / 2);
  const cut = Buffer.concat([state.subarray(0, 12 + 4 * positions), state.subarray(12 + 4 * prefix.length)]);
  cut.writeUInt32LE(positions, 8);
  const firstCell = cellsAt() - 4 * (prefix.length - positions);
  for (let cell = 0; cell < prefix.length; cell++) cut.writeInt32LE(Math.floor(cell / 2), firstCell + 12 * cell);
  writeFileSync(path, cut);

  await using sequence = model.openSequence();
  await sequence.loadState(path);
  expect([sequence.nextPosition, sequence.cells]).toEqual([positions, prefix.length]);
  const filler = Array.from({ length: WINDOW }, (_, index) => 20 + index);
  const free = WINDOW - 1 - prefix.length;
  await expect(sequence.evaluate(filler.slice(0, free + 1))).rejects.toMatchObject({
    code: 'context-overflow',
    message: '256 tokens and 1 to follow do not fit into a window of 256 tokens',
  });
  await sequence.evaluate(filler.slice(0, free));
  expect([sequence.nextPosition, sequence.cells]).toEqual([positions + free, WINDOW - 1]);
  await sequence.clear();
  expect(sequence.cells).toBe(0);
});

/** Sets the limit on the size of the files that this process writes; false where nothing can. */
function limitFiles(bytes: number | 'unlimited'): boolean {
  const { status } = spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
  return status === 0;
}

test('a state that finds no room is refused, to its last byte, and leaves nothing behind', async ({ skip }) => {
  // Else signal-exit, which listens below node-llama-cpp, would end the process.
  const goOn = (): undefined => undefined;
  process.on('SIGXFSZ', goOn);
  await using sequence = model.openSequence();
  await sequence.evaluate(prefix);
  const folder = mkdtempSync(join(scratch, 'full-'));
  try {
    // llama.cpp writes the end of a file when it closes it, and does not ask what came of that.
    for (const missing of [1, 4000, state.length / 2, state.length]) {
      skip(!limitFiles(Math.floor(state.length - missing)), 'prlimit is not there to limit the size of files');
      await expect(sequence.saveState(join(folder, 's'))).rejects.toMatchObject({ code: 'disk' });
      expect(readdirSync(folder)).toEqual([]);
    }
    limitFiles(state.length);
    await sequence.saveState(join(folder, 's'));
    expect(readFileSync(join(folder, 's')).equals(state)).toBe(true);
  } finally {
    limitFiles('unlimited');
    process.off('SIGXFSZ', goOn);
  }
});
