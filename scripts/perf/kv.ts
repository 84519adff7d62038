/**
 * Measures the cost of joining KV: `npm run perf -- kv`. Each step on synthetic blocks, beside copying the same bytes, in
 * one run. It prints and never fails. Times are CPU times, which other processes do not lengthen but by taking caches and memory
 * bandwidth: the tenth percentile of rounds that take turns is what the work itself costs.
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writevSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Bench } from 'tinybench';
import { presetModels } from '../../src/models/preset-models.ts';
import { adapterNamed } from '../../src/engine/adapters.ts';
import {
  cellBytes,
  keyRowBytes,
  type KvLayout,
  type Rotary,
  type SequenceState,
  valueRowBytes,
} from '../../src/engine/sequence-state.ts';
import { readBlockFile, writeBlockFile } from '../../src/kv/block-file.ts';
import { type BlockPlacement, contiguousPositions, joinBlocks, type JoinOptions } from '../../src/kv/join-blocks.ts';
import { kernelChoice, type Kernels, wasmKernels } from '../../src/kv/kernels.ts';
import { cutCells, kvBytes, ownedState } from '../../src/kv/cut-cells.ts';
import { firstCells, placeValues, replaceCells } from '../../src/kv/place-values.ts';
import { ArenaCells } from '../../src/kv/arena-cells.ts';
import { readQuantised, writeQuantised } from '../../src/kv/quantised-block.ts';
import { keyRotation, rotateKeys } from '../../src/kv/rope-shift.ts';
import { RotatedKeyCache } from '../../src/kv/rotated-key-cache.ts';
import { quantisedTypes } from '../../src/store/records/prefill-record.ts';
import { runScript, wholeNumber } from '../run-script.ts';

const HEADER_TOKENS = 20;
const F16_BYTES = 2;
/** Of each block, as `dki-link:4` has them. */
const RECOMPUTED_TOKENS = 4;

interface Shape {
  readonly layout: KvLayout;
  readonly rotary: Rotary;
}

/** A Qwen2.5 of 494 million parameters. */
const SHAPE_494M: Shape = {
  layout: { layers: 24, heads: 2, headDimension: 64, keyType: 'F16', valueType: 'F16', valuesTransposed: true },
  rotary: { base: 1e6, scale: 1, dimensions: 64, pairing: 'neox', factors: null },
};

/** Cells of any content: a ramp of normal numbers, each block in memory of its own. */
function syntheticBlock(layout: KvLayout, tokens: number): SequenceState {
  const tensors = (rowBytes: number): Uint8Array[] =>
    Array.from({ length: layout.layers }, () => {
      const numbers = Uint16Array.from(
        { length: (tokens * rowBytes) / F16_BYTES },
        (_, index) => 0x3000 + (index % 4096),
      );
      return new Uint8Array(numbers.buffer);
    });
  return ownedState({
    layout,
    tokenIds: new Int32Array(tokens).fill(7),
    positions: Int32Array.from({ length: tokens }, (_, index) => HEADER_TOKENS + index),
    keys: tensors(keyRowBytes(layout)),
    values: tensors(valueRowBytes(layout)),
  });
}

/** The kernels that were chosen first, and those in WebAssembly where others were. */
const { kernels: chosen, passedOver } = kernelChoice();
const allKernels: readonly Kernels[] = chosen === wasmKernels ? [chosen] : [chosen, wasmKernels];

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

async function benchShape(
  name: string,
  { layout, rotary }: Shape,
  blocks: number,
  tokens: number,
  rounds: number,
): Promise<void> {
  const header = syntheticBlock(layout, HEADER_TOKENS);
  const cut = Array.from({ length: blocks }, () => syntheticBlock(layout, Math.round(tokens / blocks)));
  const positions = contiguousPositions(cut, HEADER_TOKENS + 1);
  const keptHeader = new ArenaCells(header);
  const kept = cut.map((block) => new ArenaCells(block));
  const place = (alpha: number, from: readonly SequenceState[] = kept): BlockPlacement[] =>
    from.map((block, index) => ({ block, position: positions[index]!, alpha }));
  const placements = place(1);
  const scaled = place(0.5);
  const elsewhere = place(1, cut);
  const join = (front: SequenceState, others: readonly BlockPlacement[], options?: Partial<JoinOptions>): void =>
    joinBlocks(front, others, { rotary, ...options })[Symbol.dispose]();
  const firstStart = performance.now();
  join(keptHeader, placements);
  const firstMs = performance.now() - firstStart;
  using joined = joinBlocks(keptHeader, placements, { rotary });
  const sizeBytes = kvBytes(joined);
  const blockFile = writeBlockFile(joined);

  const all = [header, ...cut];
  const copyBlocks = (target: Uint8Array): void => {
    let offset = 0;
    for (const tensor of all.flatMap(({ keys, values }) => [...keys, ...values])) {
      target.set(tensor, offset);
      offset += tensor.length;
    }
  };
  const recomputed = cut.map((block, index) => {
    const start = HEADER_TOKENS + index * block.positions.length;
    const end = start + Math.min(RECOMPUTED_TOKENS, block.positions.length);
    return { start, cells: cutCells(joined, start, end) };
  });
  const inUse = new Uint8Array(sizeBytes).fill(1);
  const rotated = new RotatedKeyCache(sizeBytes);
  const warm = new RotatedKeyCache(sizeBytes);
  for (let time = 1; time <= 2; time++) join(keptHeader, placements, { rotated: warm });
  const folder = mkdtempSync(path.join(tmpdir(), 'dki-bench-kv-'));
  const file = openSync(path.join(folder, 'state'), 'w');

  const steps: Step[] = [
    { name: 'copy the same bytes, allocation included', run: () => copyBlocks(Buffer.allocUnsafeSlow(sizeBytes)) },
    { name: 'copy them into memory that is there', run: () => copyBlocks(inUse) },
    ...allKernels.map((kernels) => ({
      name: `join, offsets never seen: ${kernels.name}`,
      run: () => join(keptHeader, placements, { kernels }),
    })),
    {
      name: 'join, offsets never seen, noted',
      before: () => rotated.clear(),
      run: () => join(keptHeader, placements, { rotated }),
    },
    {
      name: 'join, offsets seen once, rotated keys kept',
      before: () => {
        rotated.clear();
        join(keptHeader, placements, { rotated });
      },
      run: () => join(keptHeader, placements, { rotated }),
    },
    { name: 'join, offsets seen and kept', run: () => join(keptHeader, placements, { rotated: warm }) },
    { name: 'join, offsets never seen, blocks elsewhere', run: () => join(header, elsewhere) },
    { name: 'join, offsets never seen, alpha 0.5', run: () => join(keptHeader, scaled) },
    ...allKernels.map((kernels) => ({
      name: `of it: rotate the keys: ${kernels.name}`,
      run: () =>
        kept.forEach((block, index) => {
          const rowBytes = keyRowBytes(layout);
          const start = (HEADER_TOKENS + index * block.positions.length) * rowBytes;
          rotateKeys(
            {
              sources: block.place!.keysAt,
              targets: joined.keys.map(({ byteOffset }) => byteOffset + start),
              sizeBytes: block.positions.length * rowBytes,
            },
            keyRotation(rotary, layout, positions[index]! - HEADER_TOKENS, kernels),
          );
        }),
    })),
    ...allKernels.map((kernels) => ({
      name: `of it: place the values: ${kernels.name}`,
      run: () => {
        const addresses = joined.values.map(({ byteOffset }) => byteOffset);
        const cells = joined.positions.length;
        kept.forEach(({ place, positions: { length } }, index) => {
          const start = HEADER_TOKENS + index * length;
          placeValues({ sources: place!.valuesAt, cells: length, layout }, { addresses, cells, start }, kernels);
        });
      },
    })),
    ...quantisedTypes.map((type): Step => {
      const stored = all.map((block) => writeQuantised(block, type));
      return { name: `restore the blocks from ${type}`, run: () => stored.forEach((bytes) => readQuantised(bytes)) };
    }),
    {
      name: `splice ${RECOMPUTED_TOKENS} cells into each block`,
      run: () => recomputed.forEach(({ start, cells }) => replaceCells(joined, cells, start)),
    },
    {
      name: 'copy the first half of the joined cells',
      run: () => firstCells(joined, Math.floor(joined.positions.length / 2))[Symbol.dispose](),
    },
    { name: 'read a block of that size', run: () => readBlockFile(blockFile) },
    {
      name: 'write the join to a file',
      before: () => ftruncateSync(file),
      run: () => writevSync(file, [...joined.keys, ...joined.values], 0),
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
  const cells = joined.positions.length;
  console.log(`${name}: ${blocks} blocks, ${cells} cells of ${cellBytes(layout)} bytes, ${sizeBytes} bytes`);
  console.log(table.toString());
  if (passedOver !== null) console.log(`no native kernels: ${passedOver}`);
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
  const opener = adapterNamed('llama-cpp').opener({});
  await using engine = await opener.open({ model: presetModels.model });
  await benchShape(engine.info.model.name, engine.capabilities.cells!, blocks, tokens, rounds);
});
