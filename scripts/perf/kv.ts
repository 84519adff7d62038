/**
 * Measures what joining KV blocks costs: `npm run perf -- kv`. Each step works on synthetic blocks and is compared with copying the
 * same bytes. Times are the tenth percentile of CPU times, which other processes lengthen only through caches and memory bandwidth.
 */
import { closeSync, ftruncateSync, openSync, writevSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { presetModels } from '../../src/models/default-models.ts';
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
import { contiguousPositions, joinBlocks, type JoinOptions } from '../../src/kv/join-blocks.ts';
import { kernelChoice, type Kernels, wasmKernels } from '../../src/kv/kernels.ts';
import { cutCells } from '../../src/kv/cut-cells.ts';
import { kvBytes, ownedState } from '../../src/engine/sequence-state.ts';
import { firstCells, placeValues, replaceCells } from '../../src/kv/copy-arena-cells.ts';
import { ArenaCells } from '../../src/kv/arena-cells.ts';
import { readQuantised, writeQuantised } from '../../src/kv/quantised-block.ts';
import { keyRotation, rotateKeys } from '../../src/kv/rotate-keys.ts';
import { RotatedKeyCache } from '../../src/kv/rotated-key-cache.ts';
import { quantisedTypes } from '../../src/store/records/prefill-record.ts';
import { printTable, readOptions, runScript, ScratchFolder, wholeNumbers } from '../run-script.ts';

const HEADER_TOKENS = 20;
/** Tokens of each block that `dki-link:4` recomputes. */
const RECOMPUTED_TOKENS = 4;
const WARM_UPS_PER_ROUND = 2;
const ITERATIONS_PER_ROUND = 8;

/** Qwen2.5 with 494 million parameters. */
const SHAPE_494M = {
  layout: { layers: 24, heads: 2, headDimension: 64, keyType: 'F16', valueType: 'F16', valuesTransposed: true },
  rotary: { base: 1e6, scale: 1, dimensions: 64, pairing: 'neox', factors: null },
} as const;

/** A block whose numbers are a ramp of normal F16 numbers. */
function syntheticBlock(layout: KvLayout, tokens: number): SequenceState {
  const tensors = (rowBytes: number): Uint8Array[] =>
    Array.from({ length: layout.layers }, () => {
      const ramp = (_: unknown, index: number): number => 0x3000 + (index % 4096);
      return new Uint8Array(Uint16Array.from({ length: (tokens * rowBytes) / 2 }, ramp).buffer);
    });
  return ownedState({
    layout,
    tokenIds: new Int32Array(tokens).fill(7),
    positions: Int32Array.from({ length: tokens }, (_, index) => HEADER_TOKENS + index),
    keys: tensors(keyRowBytes(layout)),
    values: tensors(valueRowBytes(layout)),
  });
}

type Step = readonly [name: string, run: () => unknown, before?: () => void];

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The tenth percentile of the CPU time of each step; the steps take turns in each round. */
function measure(steps: readonly Step[], rounds: number, prepare: () => void): number[] {
  const samples = steps.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, run, before]] of steps.entries()) {
      for (let iteration = -WARM_UPS_PER_ROUND; iteration < ITERATIONS_PER_ROUND; iteration++) {
        before?.();
        prepare();
        const start = cpuMs();
        run();
        if (iteration >= 0) samples[index]!.push(cpuMs() - start);
      }
    }
  }
  return samples.map((times) => times.sort((a, b) => a - b)[Math.floor(times.length / 10)]!);
}

/** The chosen kernels, and those in WebAssembly if others were chosen. */
const { kernels: chosen, rejectedBackends } = kernelChoice();
const allKernels: readonly Kernels[] = chosen === wasmKernels ? [chosen] : [chosen, wasmKernels];

interface Sizes {
  readonly blocks: number;
  readonly tokens: number;
  readonly rounds: number;
}

function benchShape(
  name: string,
  { layout, rotary }: { readonly layout: KvLayout; readonly rotary: Rotary },
  { blocks, tokens, rounds }: Sizes,
): void {
  const header = syntheticBlock(layout, HEADER_TOKENS);
  const cut = Array.from({ length: blocks }, () => syntheticBlock(layout, Math.round(tokens / blocks)));
  const positions = contiguousPositions(cut, HEADER_TOKENS + 1);
  const arenaHeader = new ArenaCells(header);
  const arenaBlocks = cut.map((block) => new ArenaCells(block));
  const place = (from: readonly SequenceState[], alpha = 1) =>
    from.map((block, index) => ({ block, position: positions[index]!, alpha }));
  const placements = place(arenaBlocks);
  const join = (options: Partial<JoinOptions> = {}, front: SequenceState = arenaHeader, others = placements): void =>
    joinBlocks(front, others, { rotary, ...options })[Symbol.dispose]();
  const firstStart = performance.now();
  join();
  const firstMs = performance.now() - firstStart;

  using joined = joinBlocks(arenaHeader, placements, { rotary });
  const cells = joined.positions.length;
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
  const starts = cut.map((block, index) => HEADER_TOKENS + index * block.positions.length);
  const recomputed = cut.map((block, index) => {
    const start = starts[index]!;
    return { start, cells: cutCells(joined, start, start + Math.min(RECOMPUTED_TOKENS, block.positions.length)) };
  });
  const replaceAll = (): void => recomputed.forEach((part) => replaceCells(joined, part.cells, part.start));
  const used = new Uint8Array(sizeBytes).fill(1);
  const [rotated, warm] = [new RotatedKeyCache(sizeBytes), new RotatedKeyCache(sizeBytes)];
  for (let time = 1; time <= 2; time++) join({ rotated: warm });
  using folder = new ScratchFolder('kv');
  const file = openSync(joinPath(folder.path, 'state'), 'w');
  const halves = place(arenaBlocks, 0.5);
  const outside = place(cut);

  const perKernels = (name: string, run: (kernels: Kernels) => void): Step[] =>
    allKernels.map((kernels) => [`${name}: ${kernels.name}`, () => run(kernels)]);
  const rotateAll = (kernels: Kernels): void => {
    const rowBytes = keyRowBytes(layout);
    for (const [index, { place, positions: own }] of arenaBlocks.entries()) {
      const targets = joined.keys.map(({ byteOffset }) => byteOffset + starts[index]! * rowBytes);
      const keys = { sources: place!.keysAt, targets, sizeBytes: own.length * rowBytes };
      rotateKeys(keys, keyRotation(rotary, layout, positions[index]! - HEADER_TOKENS, kernels));
    }
  };
  const placeAll = (kernels: Kernels): void => {
    const addresses = joined.values.map(({ byteOffset }) => byteOffset);
    for (const [index, { place, positions: own }] of arenaBlocks.entries()) {
      const source = { sources: place!.valuesAt, cells: own.length, layout };
      placeValues(source, { addresses, cells, start: starts[index]! }, kernels);
    }
  };
  const recordRotated = (): void => {
    rotated.clear();
    join({ rotated });
  };

  const steps: Step[] = [
    ['copy the same bytes, allocation included', () => copyBlocks(Buffer.allocUnsafeSlow(sizeBytes))],
    ['copy into allocated memory', () => copyBlocks(used)],
    ...perKernels('join, new offsets', (kernels) => join({ kernels })),
    ['join, new offsets, recorded', () => join({ rotated }), () => rotated.clear()],
    ['join, offsets met once, rotated keys stored', () => join({ rotated }), recordRotated],
    ['join, rotated keys found', () => join({ rotated: warm })],
    ['join, new offsets, blocks outside the arena', () => join({}, header, outside)],
    ['join, new offsets, alpha 0.5', () => join({}, arenaHeader, halves)],
    ...perKernels('part: rotate the keys', rotateAll),
    ...perKernels('part: place the values', placeAll),
    ...quantisedTypes.map((type): Step => {
      const stored = all.map((block) => writeQuantised(block, type));
      return [`restore the blocks from ${type}`, () => stored.forEach((bytes) => readQuantised(bytes))];
    }),
    [`replace ${RECOMPUTED_TOKENS} cells of each block`, replaceAll],
    ['copy the first half of the joined cells', () => firstCells(joined, Math.floor(cells / 2))[Symbol.dispose]()],
    ['read a block of that size', () => readBlockFile(blockFile)],
    [
      'write the joined cells to a file',
      () => writevSync(file, [...joined.keys, ...joined.values], 0),
      () => ftruncateSync(file),
    ],
  ];
  // Between two turns the weights of a model pass through the processor's caches, as this memory does.
  const weights = new Uint8Array(128 * 1024 * 1024);
  const cold = measure(steps, rounds, () => weights.fill(1));
  const hot = measure(steps, rounds, () => undefined);
  for (const block of [arenaHeader, ...arenaBlocks]) block.erase();
  closeSync(file);

  console.log(`${name}: ${blocks} blocks, ${cells} cells of ${cellBytes(layout)} bytes, ${sizeBytes} bytes`);
  printTable(
    ['step', 'CPU ms, cold caches', '× copy, cold', 'CPU ms, warm caches', '× copy, warm'],
    steps.map(([step], index) => [
      step,
      ...[cold, hot].flatMap((times) => [times[index]!.toFixed(2), (times[index]! / times[0]!).toFixed(2)]),
    ]),
  );
  if (rejectedBackends !== null) console.log(`no native kernels: ${rejectedBackends}`);
  console.log(`the first join of this size, memory not allocated yet: ${firstMs.toFixed(2)} ms`);
}

await runScript(async () => {
  const values = readOptions({ blocks: '40', tokens: '2000', rounds: '8' });
  const sizes = wholeNumbers(values, { blocks: 1, tokens: Number(values.blocks), rounds: 1 });
  benchShape('494M', SHAPE_494M, sizes);
  await using engine = await adapterNamed('llama-cpp').opener({}).open({ model: presetModels.model });
  benchShape(engine.info.model.name, engine.capabilities.cells!, sizes);
});
