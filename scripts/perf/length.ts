/**
 * Measures suite `length`, and then what its steps must cost at least: `npm run perf -- length --model qwen2.5-coder-0.5b`. The same bytes are
 * copied (memcpy) and read cold with `dd`, in the same run but after the suite; medians are compared.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { quantiles } from '../../src/eval/analysis/statistics/estimate-mean.ts';
import { totals, wayName } from '../../src/eval/analysis/summary/length-break-even.ts';
import { resolveModelOptions } from '../../src/eval/run/plan/resolve-model-options.ts';
import { measureLength } from '../../src/eval/run/measure/measure-length.ts';
import type { LengthMeasurement, LengthStep } from '../../src/store/records/suite-measurements.ts';
import { printTable, readOptions, runScript, ScratchFolder } from '../run-script.ts';

const ROUNDS = 10;

const median = (times: readonly number[]): number => quantiles(times).p50;

/** Median ms of copying so many bytes into new memory. */
function copyMs(bytes: number): number {
  const source = new Uint8Array(bytes).fill(1);
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    Buffer.allocUnsafeSlow(bytes).set(source);
    return performance.now() - start;
  });
  return median(times);
}

/** Median MB/s at which `dd` reads a file that is in no cache of this system; the time is what dd prints. */
function ddSpeed(folder: string, bytes: number): number {
  const path = join(folder, 'dd');
  writeFileSync(path, Buffer.alloc(bytes, 1));
  const times = Array.from({ length: ROUNDS }, () => {
    execFileSync('sync', [path]);
    execFileSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
    const text = execFileSync('sh', ['-c', `LC_ALL=C dd if="$1" of=/dev/null bs=1M 2>&1`, 'dd', path]).toString();
    return Number(/, ([\d.e-]+) s,/.exec(text)![1]) * 1000;
  });
  return bytes / 1e3 / median(times);
}

/** What a step must not exceed, or fall below, in the order of the rows. */
interface Target {
  readonly what: string;
  readonly value: number;
  readonly target: string;
}

function targets(rows: readonly LengthMeasurement[], dd: (bytes: number) => number): Target[] {
  const step = ({ repeats }: LengthMeasurement, name: LengthStep) => median(repeats.map(({ steps }) => steps[name]));
  const plainBytes = (way: string) => rows.find((row) => row.way === way && row.type === 'f16')!.bytes;
  const floor = median(totals(rows.find(({ way }) => way === 'resident')!));
  return rows.flatMap((row): Target[] => {
    const { way, tier, type, bytes } = row;
    if (tier === null) return [];
    const copy = copyMs(plainBytes(way));
    const found = (what: string, value: number, target: string) => ({
      what: `${wayName(row)}: ${what}`,
      value,
      target,
    });
    if (tier === 'guest-cold') return [found('read ÷ dd', bytes / 1e3 / step(row, 'read') / dd(bytes), '≥ 0.8')];
    if (tier === 'disk') return [];
    return [
      ...(way === 'blocks' ? [found('join ÷ copy', step(row, 'join') / copy, '≤ 1.3')] : []),
      found('import ÷ copy', step(row, 'import') / copy, '≤ 1.5'),
      ...(type === 'f16' ? [] : [found('restore ÷ copy', step(row, 'convert') / copy, '≤ 2.5')]),
      found('TTFT ÷ resident', median(totals(row)) / floor, '≤ 1.05 up to 2,048 tokens'),
      found('(TTFT − resident) ÷ copy', (median(totals(row)) - floor) / copy, '≤ 1.5 beyond'),
    ];
  });
}

await runScript(async () => {
  const { model, lengths, threads } = readOptions({ model: 'recall-base', lengths: '256,1024', threads: '1' });
  const config = loadBenchConfig({ flags: { model, lengths, threads }, environment: {} });
  const engines = selectEngine(config);
  using folder = new ScratchFolder('length');
  const measured = await measureLength({
    config: await resolveModelOptions(config, engines),
    datasets: [],
    folder: folder.path,
    signal: new AbortController().signal,
    engines,
    openRetriever: () => Promise.reject(new RangeError('no retriever is measured')),
    onStep: (done, total) => void process.stderr.write(`length ${done} of ${total}\n`),
    measured: null,
    save: () => Promise.resolve(),
  });
  const known = new Map<number, number>();
  const dd = (bytes: number): number => {
    const speed = known.get(bytes) ?? ddSpeed(folder.path, bytes);
    known.set(bytes, speed);
    return speed;
  };
  for (const [tokens, rows] of Map.groupBy(measured, (row) => row.tokens)) {
    console.log(`${tokens} tokens`);
    printTable(
      ['step', 'ratio', 'target'],
      targets(rows, dd).map(({ what, value, target }) => [what, value.toFixed(2), target]),
    );
  }
});
