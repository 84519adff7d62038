/**
 * Measures the viewer on two runs of 100,000 turns, made of the stored turns of a smaller one repeated under other ids:
 * `npm run perf -- inspect --from reports/dki-bench.sqlite --run reference/main`; without --from it runs a small bench
 * first. The database that it makes is kept in --out for the next time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BenchError } from '../../src/base/bench-error.ts';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { TurnListRepository, turnSorts } from '../../src/store/turn-list-repository.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { quantiles } from '../../src/eval/analysis/statistics/quantile.ts';
import type { TurnRef } from '../../src/viewer/links.ts';
import { serverLinks as links } from '../../src/viewer/links.ts';
import { reportFigures } from '../../src/report/figures/report-figures.ts';
import { longRunNames, makeLongRuns } from './inspect/long-run.ts';
import { npmScript } from '../npm-script.ts';
import { runScript, wholeNumber } from '../run-script.ts';

const bars = { firstPageMs: 1000, p95Ms: 50, htmlBytes: 200_000 };
/** Bar of the server's memory: what it takes without a run, and the index of each turn that it holds. */
const serverBytesOf = (turns: number): number => 200_000_000 + 100 * turns;
/** p95 needs a hundred. */
const requests = 120;
/** Starts of the server, of which the median counts. */
const starts = 5;
const [longRunName, otherRunName] = longRunNames;

interface Server {
  readonly process: ChildProcess;
  readonly url: string;
}

/** Starts the viewer as `npm run inspect` does, and waits for its address. */
async function start(path: string): Promise<Server> {
  const [program, ...words] = npmScript('inspect');
  const viewer = spawn(program!, [...words, '--db', path, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const chunk of viewer.stdout) {
    const url = /http:\S+/.exec(String(chunk))?.[0];
    if (url !== undefined) return { process: viewer, url };
  }
  throw new BenchError('not-found', 'the viewer ended before it listened', 'its message stands above');
}

async function stop({ process: viewer }: Server): Promise<void> {
  const ended = new Promise((resolve) => viewer.once('exit', resolve));
  viewer.kill('SIGINT');
  await ended;
}

/** CPU time of all threads of the server so far, which other work on the machine does not change. */
function cpuMs({ process: viewer }: Server): number {
  const tasks = `/proc/${viewer.pid ?? 0}/task`;
  const ofTask = (task: string): number => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(tasks).reduce((sum, task) => sum + ofTask(task), 0) / 1e6;
}

function residentBytes({ process: viewer }: Server): number {
  const status = readFileSync(`/proc/${viewer.pid ?? 0}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

interface Answer {
  readonly ms: number;
  readonly cpuMs: number;
  readonly bytes: number;
}

async function fetched(server: Server, address: string): Promise<Answer> {
  const [began, spent] = [performance.now(), cpuMs(server)];
  const response = await fetch(new URL(address, server.url));
  const { byteLength: bytes } = await response.arrayBuffer();
  const ms = performance.now() - began;
  if (!response.ok) throw new BenchError('bad-state', `${address} answered ${response.status}`, 'open it in a browser');
  return { ms, cpuMs: cpuMs(server) - spent, bytes };
}

/** Time from the start of the process to the first page, the median of several starts, without that of npm itself. */
async function firstPage(path: string, address: string): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const [times, spent]: [number[], number[]] = [[], []];
  for (let index = 0; index < starts; index++) {
    const began = performance.now();
    const server = await start(path);
    await fetched(server, address);
    times.push(performance.now() - began);
    spent.push(cpuMs(server));
    await stop(server);
  }
  return { ms: quantiles(times).p50, cpuMs: quantiles(spent).p50 };
}

/** Makes a small run of the bench, once. @throws BenchError `bad-state` if it fails */
function smallRun(folder: string): string {
  const database = resolve(folder, 'dki-bench.sqlite');
  if (existsSync(database)) return database;
  const words = ['run', 'bench', '--', '--limit', '50', '--out', folder];
  const { status } = spawnSync('npm', words, { stdio: 'inherit' });
  if (status === 0) return database;
  throw new BenchError('bad-state', 'the small run failed', 'its message stands above; or name a database with --from');
}

/** An address of each kind of page, drawn at random. */
type Kinds = Readonly<Record<string, () => string>>;

function kindsOf(path: string, random: SeededRandom): Kinds {
  using database = openDatabase({ path, readOnly: true });
  const runs = new RunRepository(database);
  const run = runs.findByName(longRunName)!;
  const list = new TurnListRepository(database);
  const [arms, items, categories] = [list.arms(run.id), list.items(run.id), list.categories(run.id)];
  const words = list.page(run.id, { size: 50 }).rows.flatMap(({ question }) => (question ?? '').split(' '));
  const turn = (): TurnRef => {
    return { run: longRunName, item: random.pick(items), arm: random.pick(arms), repeat: 0, turn: 0 };
  };
  const last = items.length * arms.length;
  const truth = () => (random.chance(0.5) ? { descending: true as const } : {});
  const ofRun = (query: Parameters<typeof links.run>[1]) => links.run(longRunName, query);
  const compared = (run: string) => ({ run, arm: random.pick(arms) });
  const results = runs.results(run.id);
  const figures = results === null ? [] : reportFigures(results);
  return {
    runs: () => links.runs(),
    run: () => ofRun({}),
    progress: () => links.watch(longRunName),
    'run, sorted, anywhere': () => ofRun({ sort: random.pick(turnSorts), ...truth(), after: random.int(1, last) }),
    'run, filtered': () =>
      ofRun({
        arm: random.pick(arms),
        category: random.pick(categories),
        answer: random.pick(['right', 'wrong'] as const),
        ...(random.chance(0.5) ? { disagreeing: true } : {}),
        ...(random.chance(0.2) ? { truncated: true } : {}),
      }),
    'run, text': () => ofRun({ text: random.pick(words), sort: random.pick(turnSorts), ...truth() }),
    matrix: () => links.matrix(longRunName, { page: random.int(1, 180) }),
    'matrix, A wrong, B right': () => {
      const [wrong, right] = random.shuffled(arms);
      return links.matrix(longRunName, { wrong: wrong!, right: right! });
    },
    'two arms side by side': () => {
      const [arm, other] = random.shuffled(arms);
      return links.pair({ ...turn(), arm: arm! }, other!);
    },
    item: () => links.item(longRunName, random.pick(items)),
    turn: () => links.turn(turn()),
    'turn against an arm': () => links.turn(turn(), random.pick(arms)),
    'turn, JSON': () => links.turnJson(turn()),
    'compare two arms': () => {
      const [a, b] = random.shuffled(arms);
      const [first, second] = [
        { run: longRunName, arm: a! },
        { run: longRunName, arm: b! },
      ];
      return links.compare(first, second, { page: random.int(1, 180) });
    },
    'compare two runs': () =>
      links.compare(compared(longRunName), compared(otherRunName), { page: random.int(1, 180) }),
    ...(figures.length === 0 ? {} : { figure: () => links.figure(longRunName, random.pick(figures).id) }),
    'script and style': () => random.pick([links.style(), links.script()]),
  };
}

const shown = (value: number, digits = 0): string => value.toFixed(digits).padStart(9);
const judged = (value: number, bar: number): string => (value <= bar ? 'holds' : 'FAILS');

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      from: { type: 'string' },
      run: { type: 'string' },
      out: { type: 'string', default: 'reports/bench-inspect' },
      turns: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '7' },
    },
  });
  const turns = wholeNumber('turns', values.turns, 1);
  mkdirSync(values.out, { recursive: true });
  const path = resolve(values.out, `${turns}.sqlite`);
  if (!existsSync(path)) makeLongRuns(path, values.from ?? smallRun(resolve(values.out, 'small')), values.run, turns);
  const first = await firstPage(path, links.run(longRunName));
  const kinds = kindsOf(path, new SeededRandom(wholeNumber('seed', values.seed, 0)));
  const server = await start(path);
  console.log(
    `two runs of ${turns} turns; ${requests} requests of each kind, one after the other, the first of each apart`,
  );
  console.log('times of the client, and CPU time of the server, which other work on the machine does not change');
  console.log(`${'page'.padEnd(25)} first ms   p50 ms   p95 ms  CPU p50  CPU p95  largest, kB`);
  let holds = first.ms <= bars.firstPageMs;
  try {
    for (const [kind, address] of Object.entries(kinds)) {
      const cold = await fetched(server, address());
      const measured = [];
      for (let index = 0; index < requests; index++) measured.push(await fetched(server, address()));
      const { p50, p95 = Infinity } = quantiles(measured.map(({ ms }) => ms));
      const cpu = quantiles(measured.map((one) => one.cpuMs));
      const bytes = Math.max(cold.bytes, ...measured.map((one) => one.bytes));
      const verdict = p95 <= bars.p95Ms && (kind.endsWith('JSON') || bytes <= bars.htmlBytes);
      holds &&= verdict;
      const row = [cold.ms, p50, p95, cpu.p50, cpu.p95 ?? Infinity, bytes / 1000]
        .map((value) => shown(value, 1))
        .join('');
      console.log(`${kind.padEnd(25)}${row}  ${verdict ? 'holds' : 'FAILS'}`);
    }
    const resident = residentBytes(server);
    const serverBytes = serverBytesOf(2 * turns);
    holds &&= resident <= serverBytes;
    const started = `${first.ms.toFixed(0)} ms (CPU ${first.cpuMs.toFixed(0)} ms)`;
    console.log(`first page of the run after the start: ${started}, ${judged(first.ms, bars.firstPageMs)}`);
    console.log(`memory of the server: ${(resident / 1e6).toFixed(0)} MB, ${judged(resident, serverBytes)}`);
  } finally {
    await stop(server);
  }
  if (!holds) process.exitCode = 1;
});
