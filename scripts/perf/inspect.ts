/**
 * Measures the viewer on two runs of 100,000 turns, copied from a small run: `npm run perf -- inspect`. The database stays in --out for
 * the next time. Exits 1 if a limit is exceeded.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { BenchError } from '../../src/base/bench-error.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { quantiles } from '../../src/eval/analysis/statistics/estimate-mean.ts';
import { reportFigures } from '../../src/report/report-contents.ts';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { TurnListRepository } from '../../src/store/turn-list-repository.ts';
import { serverLinks as links, type TurnRef } from '../../src/viewer/links.ts';
import { npmScript, printTable, readOptions, runScript, wholeNumbers } from '../run-script.ts';
import { longRunNames, makeLongRuns } from './runs/long-run.ts';

const limits = { firstPageMs: 1000, p95Ms: 100, htmlBytes: 200_000 };
/** Limit of the server's memory: a base, and what comparisons read of each turn. */
const serverLimit = (turns: number): number => 500_000_000 + 5_000 * turns;
/** Requests of each kind of page; p95 needs a hundred. */
const REQUESTS = 120;
/** Starts of the server; the median counts. */
const STARTS = 5;
const [run, otherRun] = longRunNames;

/** A viewer started as `npm run inspect` starts it. */
class Viewer {
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.#url = url;
  }

  static async start(path: string): Promise<Viewer> {
    const [program, ...words] = npmScript('inspect');
    const viewer = spawn(program!, [...words, '--db', path, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const chunk of viewer.stdout) {
      const url = /http:\S+/.exec(String(chunk))?.[0];
      if (url !== undefined) return new Viewer(viewer, url);
    }
    throw new BenchError('not-found', 'the viewer ended before it listened', 'see its message above');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGINT');
    await ended;
  }

  /** CPU time of all threads so far, which other work on the machine does not change. */
  get cpuMs(): number {
    const tasks = `/proc/${this.#process.pid}/task`;
    const taskTime = (task: string) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]);
    return readdirSync(tasks).reduce((sum, task) => sum + taskTime(task), 0) / 1e6;
  }

  get residentBytes(): number {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#process.pid}/status`, 'utf8'))?.[1]) * 1024;
  }

  async get(address: string): Promise<{ readonly ms: number; readonly cpuMs: number; readonly bytes: number }> {
    const [start, cpuStart] = [performance.now(), this.cpuMs];
    const response = await fetch(new URL(address, this.#url));
    const { byteLength: bytes } = await response.arrayBuffer();
    const ms = performance.now() - start;
    if (response.ok) return { ms, cpuMs: this.cpuMs - cpuStart, bytes };
    throw new BenchError('bad-state', `${address} answered ${response.status}`, 'open it in a browser');
  }
}

/** Median times from the start of the process to the first page, without npm itself. */
async function firstPage(path: string): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const times = { ms: [] as number[], cpuMs: [] as number[] };
  for (let index = 0; index < STARTS; index++) {
    const start = performance.now();
    await using viewer = await Viewer.start(path);
    await viewer.get(links.run(run));
    times.ms.push(performance.now() - start);
    times.cpuMs.push(viewer.cpuMs);
  }
  return { ms: quantiles(times.ms).p50, cpuMs: quantiles(times.cpuMs).p50 };
}

/** Draws a random address of each kind of page. */
function pages(path: string, random: SeededRandom): Readonly<Record<string, () => string>> {
  using database = openDatabase({ path, readOnly: true });
  const { id } = new RunRepository(database).findByName(run)!;
  const list = new TurnListRepository(database);
  const [arms, items, categories] = [list.distinct(id, 'arm'), list.items(id), list.distinct(id, 'category')];
  const words = list.outcomes(id, items.slice(0, 50)).flatMap(({ question }) => (question ?? '').split(' '));
  const figures = reportFigures(new RunRepository(database).results(id)!);
  const turn = (arm = random.pick(arms)): TurnRef => ({ run, item: random.pick(items), arm, repeat: 0, turn: 0 });
  const page = () => ({ page: random.int(1, 180) });
  const twoArms = () => random.shuffled(arms) as [string, string];
  return {
    runs: () => links.runs(),
    run: () => links.run(run, {}),
    progress: () => links.watch(run),
    'run, any page': () => links.run(run, page()),
    'run, filtered': () =>
      links.run(run, {
        arm: random.pick(arms),
        category: random.pick(categories),
        answer: random.pick(['right', 'wrong'] as const),
        ...(random.chance(0.5) ? { disagreeing: true } : {}),
        ...(random.chance(0.2) ? { truncated: true } : {}),
      }),
    'run, text': () => links.run(run, { text: random.pick(words) }),
    'run, A wrong, B right': () => {
      const [wrong, right] = twoArms();
      return links.run(run, { wrong, right });
    },
    item: () => links.item(run, random.pick(items)),
    turn: () => links.turn(turn()),
    'turn against an arm': () => links.turn(turn(), random.pick(arms)),
    'turn, JSON': () => links.turnJson(turn()),
    'compare two arms': () => {
      const [a, b] = twoArms();
      return links.compare({ run, arm: a }, { run, arm: b }, page());
    },
    'compare two runs': () =>
      links.compare({ run, arm: random.pick(arms) }, { run: otherRun, arm: random.pick(arms) }, page()),
    figure: () => links.figure(run, random.pick(figures).id),
    'script and style': () => random.pick([links.style(), links.script()]),
  };
}

await runScript(async () => {
  const values = readOptions({ out: 'reports/bench-inspect', turns: '100000', seed: '7' });
  const { turns, seed } = wholeNumbers(values, { turns: 1, seed: 0 });
  const path = await makeLongRuns(values.out, turns);
  const judge = (value: number, limit: number): string => {
    if (value <= limit) return 'passes';
    process.exitCode = 1;
    return 'FAILS';
  };
  const first = await firstPage(path);
  await using viewer = await Viewer.start(path);
  const rows = [];
  for (const [kind, address] of Object.entries(pages(path, new SeededRandom(seed)))) {
    const cold = await viewer.get(address());
    const measured = [];
    for (let index = 0; index < REQUESTS; index++) measured.push(await viewer.get(address()));
    const { p50, p95 = Infinity } = quantiles(measured.map(({ ms }) => ms));
    const cpu = quantiles(measured.map(({ cpuMs }) => cpuMs));
    const bytes = Math.max(cold.bytes, ...measured.map((one) => one.bytes));
    const numbers = [cold.ms, p50, p95, cpu.p50, cpu.p95 ?? Infinity, bytes / 1000].map((value) => value.toFixed(1));
    const isTooLarge = !kind.endsWith('JSON') && bytes > limits.htmlBytes;
    rows.push([kind, ...numbers, judge(isTooLarge ? Infinity : p95, limits.p95Ms)]);
  }
  console.log(`two runs of ${turns} turns; ${REQUESTS} requests of each kind in sequence after a first one`);
  console.log("the client's times, and the server's CPU times, which other work on the machine does not change");
  printTable(['page', 'first ms', 'p50 ms', 'p95 ms', 'CPU p50', 'CPU p95', 'largest, kB', 'limits'], rows);
  const verdict = judge(first.ms, limits.firstPageMs);
  console.log(`first page after start: ${first.ms.toFixed(0)} ms (CPU ${first.cpuMs.toFixed(0)} ms), ${verdict}`);
  const { residentBytes } = viewer;
  const memory = judge(residentBytes, serverLimit(2 * turns));
  console.log(`memory of the server: ${(residentBytes / 1e6).toFixed(0)} MB, ${memory}`);
});
