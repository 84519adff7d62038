/**
 * Measures suite `length` beside what its steps must cost at least: `npm run perf -- length --model qwen2.5-coder-0.5b`. After each
 * repeat of a way, the same bytes are copied in memory (memcpy), or the same files are read cold by `dd`; medians of ten are compared.
 */
import { execFileSync } from 'node:child_process';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { quantiles } from '../../src/eval/analysis/statistics/estimate-mean.ts';
import { totals, wayName } from '../../src/eval/analysis/summary/length-break-even.ts';
import { resolveModelOptions } from '../../src/eval/run/plan/resolve-model-options.ts';
import { type AfterRepeat, dropFromCache, measureLength } from '../../src/eval/run/measure/measure-length.ts';
import type { MeasureContext } from '../../src/eval/run/suite.ts';
import type { LengthMeasurement, LengthStep } from '../../src/store/records/suite-measurements.ts';
import { printTable, readOptions, runScript, ScratchFolder } from '../run-script.ts';

/** Up to here, KV from memory must be as fast as KV that is in the session. */
const SHORT_TOKENS = 2048;

const median = (times: readonly number[]): number => quantiles(times).p50;

/** Ms in which `dd` reads the blocks of a folder that are in no cache of this system, as dd prints them. */
function ddMs(folder: string): number {
  const blocks = dropFromCache(folder).filter((path) => path.includes('.block') || path.endsWith('.state'));
  const read = 'for file do LC_ALL=C dd if="$file" of=/dev/null bs=1M 2>&1; done';
  const text = execFileSync('sh', ['-c', read, 'sh', ...blocks]).toString();
  return [...text.matchAll(/ copied, ([\d.e-]+) s,/g)].reduce((sum, [, seconds]) => sum + 1000 * Number(seconds), 0);
}

/** What each way must cost at least, measured beside it, in ms. */
class LeastTimes {
  readonly #byWay = new Map<string, number[]>();
  readonly #plainBytes = new Map<string, number>();
  /** Memory to copy from, and to copy into. It is not copied twice in a row, so that it has left the processor's caches. */
  #memory = [new Uint8Array(0), new Uint8Array(0)] as const;

  readonly add: AfterRepeat = ({ tokens, way, tier, type, bytes }, folder) => {
    const place = `${way} ${tokens}`;
    // This type comes first in each repeat.
    if (type === 'f16') this.#plainBytes.set(place, bytes);
    if (tier === 'disk') return;
    const ms = tier === 'memory' ? this.#copyMs(this.#plainBytes.get(place)!) : ddMs(folder);
    const name = `${wayName({ way, tier, type })} ${tokens}`;
    this.#byWay.set(name, [...(this.#byWay.get(name) ?? []), ms]);
  };

  median(row: LengthMeasurement): number {
    return median(this.#byWay.get(`${wayName(row)} ${row.tokens}`)!);
  }

  /** Copies so many bytes into memory that is allocated already. */
  #copyMs(bytes: number): number {
    if (this.#memory[0].length < bytes) this.#memory = [new Uint8Array(bytes).fill(1), new Uint8Array(bytes).fill(2)];
    const [source, target] = this.#memory;
    const start = performance.now();
    target.set(source.subarray(0, bytes));
    return performance.now() - start;
  }
}

/** A ratio of medians, and the bound that it shall keep. */
interface Target {
  readonly what: string;
  readonly ratio: number;
  readonly bound: readonly ['≤' | '≥', number];
}

/** The targets of one length, in the order of its rows. */
function targets(rows: readonly LengthMeasurement[], times: LeastTimes): Target[] {
  const floor = median(totals(rows.find(({ way }) => way === 'resident')!));
  return rows.flatMap((row): Target[] => {
    const { tokens, way, tier, type, repeats } = row;
    if (tier !== 'memory' && tier !== 'guest-cold') return [];
    const least = times.median(row);
    const step = (name: LengthStep): number => median(repeats.map(({ steps }) => steps[name]));
    const target = (what: string, ratio: number, ...bound: Target['bound']): Target => {
      return { what: `${wayName(row)}: ${what}`, ratio, bound };
    };
    if (tier === 'guest-cold') return [target('speed of read ÷ dd', least / step('read'), '≥', 0.8)];
    const ttft = median(totals(row));
    const whole =
      tokens <= SHORT_TOKENS
        ? target('TTFT ÷ resident', ttft / floor, '≤', 1.05)
        : target('(TTFT − resident) ÷ copy', (ttft - floor) / least, '≤', 1.5);
    return [
      ...(way === 'blocks' ? [target('join ÷ copy', step('join') / least, '≤', 1.3)] : []),
      target('import ÷ copy', step('import') / least, '≤', 1.5),
      type === 'f16' ? whole : target('restore ÷ copy', step('convert') / least, '≤', 2.5),
    ];
  });
}

function isMet({ ratio, bound: [relation, value] }: Target): boolean {
  return relation === '≤' ? ratio <= value : ratio >= value;
}

await runScript(async () => {
  const { model, lengths, threads } = readOptions({ model: 'recall-base', lengths: '256,1024', threads: '1' });
  const config = loadBenchConfig({ flags: { model, lengths, threads }, environment: {} });
  const engines = selectEngine(config);
  using folder = new ScratchFolder('length');
  const times = new LeastTimes();
  const context: MeasureContext = {
    config: await resolveModelOptions(config, engines),
    datasets: [],
    folder: folder.path,
    signal: new AbortController().signal,
    engines,
    openRetriever: () => Promise.reject(new RangeError('no retriever is measured')),
    onStep: (done, total) => void process.stderr.write(`length ${done} of ${total}\n`),
    measured: null,
    save: () => Promise.resolve(),
  };
  const measured = await measureLength(context, { afterRepeat: times.add });
  for (const [tokens, rows] of Map.groupBy(measured, (row) => row.tokens)) {
    const found = targets(rows, times);
    console.log(`${tokens} tokens: ${found.filter(isMet).length} of ${found.length} targets met`);
    printTable(
      ['step', 'ratio', 'target', 'met'],
      found.map((target) => [
        target.what,
        target.ratio.toFixed(2),
        target.bound.join(' '),
        isMet(target) ? 'yes' : 'no',
      ]),
    );
  }
});
