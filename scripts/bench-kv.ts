/**
 * What the K/V engine costs: `npm run bench:kv`. Each step on synthetic blocks, beside copying the same bytes, in one run.
 * It prints and never fails. Times are CPU times, which other processes do not lengthen but by taking caches and memory
 * bandwidth: the tenth percentile of rounds that take turns is what the work itself costs.
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Bench } from 'tinybench';
import { presetModels } from '../src/config/shipped-models.ts';
import { type BlockPlacement, contiguousPositions, joinBlocks, type JoinOptions } from '../src/kv/join-blocks.ts';
import { KeptCells } from '../src/kv/kept-cells.ts';
import { placeValues } from '../src/kv/place-values.ts';
import { keyRotation, rotateKeys } from '../src/kv/rotate-keys.ts';
import { RotatedKeys } from '../src/kv/rotated-keys.ts';
import { type KvCells, parseSequenceState } from '../src/kv/sequence-state.ts';
import { readGgufHeader } from '../src/llm/gguf-header.ts';
import type { GgufHeader } from '../src/llm/model-info.ts';
import type { KvLayout } from '../src/llm/state-format.ts';
import { runScript, wholeNumber } from './run-script.ts';

const HEADER_TOKENS = 20;
const F16_BYTES = 2;

type Shape = Pick<GgufHeader, 'layers' | 'headDimension' | 'rope'> & { readonly kvHeads: number };

/** A Qwen2.5 of 494 million parameters. */
const SHAPE_494M: Shape = {
  layers: 24,
  kvHeads: 2,
  headDimension: 64,
  rope: {
    base: 1e6,
    frequencyScale: 1,
    dimensions: 64,
    pairing: 'neox',
    scaling: 'none',
    frequencyFactors: undefined,
  },
};

/** Cells of any content: a ramp of normal numbers, each block in memory of its own. */
function syntheticBlock(layout: KvLayout, tokens: number): KvCells {
  const tensors = (rowBytes: number): Uint8Array[] =>
    Array.from({ length: layout.layers }, () => {
      const numbers = Uint16Array.from(
        { length: (tokens * rowBytes) / F16_BYTES },
        (_, index) => 0x3000 + (index % 4096),
      );
      return new Uint8Array(numbers.buffer);
    });
  return {
    layout,
    tokenIds: new Int32Array(tokens).fill(7),
    positions: Int32Array.from({ length: tokens }, (_, index) => HEADER_TOKENS + index),
    keys: tensors(layout.keyRowBytes),
    values: tensors(layout.valueRowBytes),
  };
}

interface Step {
  readonly name: string;
  readonly before?: () => void;
  readonly run: () => unknown;
}

/** Between two turns the weights of the model pass through the caches; this does the same. */
const sweep = new Uint8Array(128 * 1024 * 1024);

const RUNS_A_ROUND = 8;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The tenth percentile of the CPU time of each step; the steps take turns, so that all see the same machine. */
async function stepMs(steps: readonly Step[], rounds: number, prepare: () => void): Promise<number[]> {
  const samples = steps.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    const counts = { time: 0, iterations: RUNS_A_ROUND, warmupTime: 0, warmupIterations: 2 };
    const bench = new Bench({ ...counts, now: cpuMs, retainSamples: true });
    for (const { name, before, run } of steps) {
      const beforeEach = (): void => {
        before?.();
        prepare();
      };
      bench.add(name, () => void run(), { beforeEach });
    }
    await bench.run();
    for (const [index, { result }] of bench.tasks.entries()) {
      if (result.state === 'completed') samples[index]!.push(...(result.latency.samples ?? []));
    }
  }
  return samples.map((times) => times.sort((a, b) => a - b)[Math.floor(times.length / 10)] ?? Number.NaN);
}

async function benchShape(name: string, shape: Shape, blocks: number, tokens: number, rounds: number): Promise<void> {
  const rowBytes = shape.kvHeads * shape.headDimension * F16_BYTES;
  const layout: KvLayout = {
    layers: shape.layers,
    keyType: 'F16',
    valueType: 'F16',
    keyRowBytes: rowBytes,
    valueRowBytes: rowBytes,
    valuesTransposed: true,
  };
  const header = syntheticBlock(layout, HEADER_TOKENS);
  const cut = Array.from({ length: blocks }, () => syntheticBlock(layout, Math.round(tokens / blocks)));
  const positions = contiguousPositions(cut, HEADER_TOKENS + 1);
  const keptHeader = new KeptCells(header);
  const kept = cut.map((block) => new KeptCells(block));
  const place = (alpha: number, from: readonly KvCells[] = kept): BlockPlacement[] =>
    from.map((block, index) => ({ block, position: positions[index]!, alpha }));
  const placements = place(1);
  const scaled = place(0.5);
  const elsewhere = place(1, cut);
  const options: JoinOptions = { keys: shape, sequences: 1 };
  const firstStart = performance.now();
  const lent = joinBlocks(keptHeader, placements, options);
  const firstMs = performance.now() - firstStart;
  // Every join is lent the same memory, since all of them are of this size.
  const [lentAt, state] = [lent.byteOffset, lent.slice()];
  const views = parseSequenceState(state).cells;

  const all = [header, ...cut];
  const copyBlocks = (target: Uint8Array): void => {
    let offset = 0;
    for (const tensor of all.flatMap(({ keys, values }) => [...keys, ...values])) {
      target.set(tensor, offset);
      offset += tensor.length;
    }
  };
  const inUse = new Uint8Array(state.length).fill(1);
  const rotated = new RotatedKeys(state.length);
  const warm = new RotatedKeys(state.length);
  for (let time = 1; time <= 2; time++) joinBlocks(keptHeader, placements, { ...options, rotated: warm });
  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-kv-'));
  const file = openSync(join(folder, 'state'), 'w');

  const steps: Step[] = [
    { name: 'copy the same bytes, allocation included', run: () => copyBlocks(Buffer.allocUnsafeSlow(state.length)) },
    { name: 'copy them into memory that is there', run: () => copyBlocks(inUse) },
    { name: 'join, offsets never seen', run: () => joinBlocks(keptHeader, placements, options) },
    {
      name: 'join, offsets never seen, noted',
      before: () => rotated.clear(),
      run: () => joinBlocks(keptHeader, placements, { ...options, rotated }),
    },
    {
      name: 'join, offsets seen once, turned keys kept',
      before: () => {
        rotated.clear();
        joinBlocks(keptHeader, placements, { ...options, rotated });
      },
      run: () => joinBlocks(keptHeader, placements, { ...options, rotated }),
    },
    {
      name: 'join, offsets seen and kept',
      run: () => joinBlocks(keptHeader, placements, { ...options, rotated: warm }),
    },
    { name: 'join, offsets never seen, blocks elsewhere', run: () => joinBlocks(header, elsewhere, options) },
    { name: 'join, offsets never seen, alpha 0.5', run: () => joinBlocks(keptHeader, scaled, options) },
    {
      name: 'of it: turn the keys',
      run: () =>
        kept.forEach((block, index) => {
          const start = (HEADER_TOKENS + index * block.positions.length) * rowBytes;
          rotateKeys(
            block.place!.keysAt,
            views.keys.map(({ byteOffset }) => lentAt + byteOffset + start),
            block.positions.length * rowBytes,
            keyRotation(shape, positions[index]! - HEADER_TOKENS, 'F16'),
          );
        }),
    },
    {
      name: 'of it: place the values',
      run: () =>
        kept.forEach((block, index) => {
          const start = HEADER_TOKENS + index * block.positions.length;
          block.place!.valuesAt.forEach((source, layer) => {
            const target = { address: lentAt + views.values[layer]!.byteOffset, cells: views.positions.length };
            placeValues(source, block.positions.length, target, start, layout);
          });
        }),
    },
    { name: 'parse a state', run: () => parseSequenceState(state) },
    {
      name: 'write it to a file',
      before: () => ftruncateSync(file),
      run: () => writeSync(file, state, 0, state.length, 0),
    },
  ];
  const cold = await stepMs(steps, rounds, () => sweep.fill(1));
  const hot = await stepMs(steps, rounds, () => undefined);
  [keptHeader, ...kept].forEach((cells) => cells.erase());
  closeSync(file);
  rmSync(folder, { recursive: true });

  const table = new Table({
    head: ['step', 'CPU ms, caches swept', '× copying', 'CPU ms, in cache', '× copying'],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const [index, { name: step }] of steps.entries()) {
    const cells = [cold, hot].flatMap((times) => [times[index]!.toFixed(2), (times[index]! / times[0]!).toFixed(2)]);
    table.push([step, ...cells]);
  }
  const perToken = shape.layers * 2 * rowBytes;
  console.log(`${name}: ${blocks} blocks, ${views.positions.length} cells of ${perToken} bytes, ${state.length} bytes`);
  console.log(table.toString());
  console.log(`the first join of this size, its memory still to be made: ${firstMs.toFixed(2)} ms`);
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      blocks: { type: 'string', default: '40' },
      tokens: { type: 'string', default: '2000' },
      rounds: { type: 'string', default: '8' },
    },
  });
  const blocks = wholeNumber('blocks', values.blocks, 1);
  const tokens = wholeNumber('tokens', values.tokens, blocks);
  const rounds = wholeNumber('rounds', values.rounds, 1);
  await benchShape('494M', SHAPE_494M, blocks, tokens, rounds);
  const shipped = await readGgufHeader(presetModels.model);
  await benchShape(shipped.name, { ...shipped, kvHeads: shipped.kvHeads ?? 0 }, blocks, tokens, rounds);
});
