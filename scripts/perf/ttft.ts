/**
 * Measures the time to first token behind memories: `npm run perf -- ttft`. Every prefill strategy is compared with evaluating the same
 * query behind a prefix that is in the session already. Rows take turns in rotated order; a busy machine slows down all of them, so
 * read the ratios.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { median } from 'simple-statistics';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { resolveModelFile } from '../../src/engine/gguf/model-file.ts';
import { startLlamaServer } from '../../src/engine/llama-server/llama-server-process.ts';
import { armOrder } from '../../src/eval/run/turns/take-user-turns.ts';
import { printTable, readOptions, runScript, ScratchFolder, wholeNumber, wholeNumbers } from '../run-script.ts';
import {
  LINK_ROW,
  openRows,
  ROW_SESSIONS,
  SAME_CHUNKS_ROW,
  type TtftReading,
  type TtftRow,
  WARM_UP_TURNS,
} from './ttft/rows.ts';
import { drawSubject } from './ttft/subject.ts';

const SEED = 7;
/** Tokens of the header, of the words around the query, and of the answer. */
const TOKENS_AROUND = 128;
/** Rows that take seconds are measured in every fourth round. */
const SLOW_ROUNDS = 4;
/** llama.cpp rounds a window up to a multiple of this. */
const WINDOW_STEP = 256;

/** One reading of a row in each of its rounds, by round. */
type Readings = ReadonlyMap<TtftRow, ReadonlyMap<number, TtftReading>>;

async function measure(rows: readonly TtftRow[], rounds: number): Promise<Readings> {
  const readings = new Map(rows.map((row) => [row, new Map<number, TtftReading>()]));
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`);
    const taking = rows.filter(({ slow }) => slow !== true || round % SLOW_ROUNDS === 0);
    for (const row of armOrder(taking, SEED, round)) {
      readings.get(row)!.set(round, await row.ask(WARM_UP_TURNS + round));
    }
  }
  return readings;
}

type Value = (reading: TtftReading) => number;

/** The median of the ratios of one row to another within a round. */
function ratio(
  one: ReadonlyMap<number, TtftReading>,
  other: ReadonlyMap<number, TtftReading>,
  value: Value = ({ ttftMs }) => ttftMs,
): string {
  const rounds = [...one].filter(([round]) => other.has(round));
  return median(rounds.map(([round, reading]) => value(reading) / value(other.get(round)!))).toFixed(2);
}

function printReadings(readings: Readings): void {
  const phases = { 'KV load': 'kvLoadMs', 'KV compute': 'kvComputeMs', prefill: 'prefillMs', call: 'callMs' } as const;
  const named = [...Object.keys(phases), 'CPU', '× query, CPU'];
  const head = ['median', 'n', 'TTFT, ms', 'minimum', '× query', 'evaluated', ...named];
  const [floor] = readings.values();
  const rows = Array.from(readings, ([{ name }, byRound]) => {
    const all = [...byRound.values()];
    const ms = (value: Value): string => median(all.map(value)).toFixed(1);
    const hasCpu = all.every(({ cpuMs }) => cpuMs !== undefined);
    const cpu = ({ cpuMs = Number.NaN }: TtftReading): number => cpuMs;
    return [
      name,
      all.length,
      ms(({ ttftMs }) => ttftMs),
      Math.min(...all.map(({ ttftMs }) => ttftMs)).toFixed(1),
      ratio(byRound, floor!),
      median(all.map(({ evaluatedTokens }) => evaluatedTokens)),
      ...Object.values(phases).map((phase) => ms((reading) => reading[phase])),
      ...(hasCpu ? [ms(cpu), ratio(byRound, floor!, cpu)] : ['', '']),
    ];
  });
  printTable(head, rows);
}

/** Compares the first token of exact rows with that of the text, round by round. */
function agreement(readings: Readings): string {
  const [floor] = readings.values();
  const exact = [...readings].filter(([row]) => row.exact === true);
  const same = exact.flatMap(([, byRound]) =>
    [...byRound].map(([round, { text }]) => text === floor!.get(round)!.text),
  );
  const names = exact.map(([{ name }]) => name).join('; ');
  return `the same first token in ${same.filter(Boolean).length} of ${same.length} answers of: ${names}`;
}

/** Rows that should take about as long as another row. */
const PAIRS = [
  [LINK_ROW, SAME_CHUNKS_ROW],
  ['dki, cache miss', 'rag'],
  ['dki-blocks, cache miss', 'rag'],
] as const;

await runScript(async () => {
  const values = readOptions(
    { model: 'random:qwen2.5-0.5b', 'memory-tokens': '2000', 'query-tokens': '50', rounds: '12' },
    ['threads', 'llama-server'],
  );
  const sizes = wholeNumbers(values, { 'memory-tokens': 64, 'query-tokens': 8, rounds: 1 });
  const [memoryTokens, queryTokens] = [sizes['memory-tokens'], sizes['query-tokens']];
  const givenThreads = values.threads === undefined ? {} : { threads: wholeNumber('threads', values.threads, 1) };
  const contextTokens = Math.ceil((memoryTokens + queryTokens + TOKENS_AROUND) / WINDOW_STEP) * WINDOW_STEP;
  const { model, 'llama-server': program } = values;

  using folder = new ScratchFolder('ttft');
  await using engine = await selectEngine().open({
    model,
    contextTokens,
    sessions: ROW_SESSIONS,
    checkpointFolder: join(folder.path, 'checkpoints'),
    ...givenThreads,
  });
  const { threads } = engine.info;
  const { name, parameters } = engine.info.model;
  const request = { contextTokens, ...(threads === null ? {} : { threads }) };
  await using server =
    program === undefined ? undefined : await startLlamaServer(program, await resolveModelFile(model), request);
  const subject = await drawSubject(engine, memoryTokens, queryTokens, SEED);
  const { prefix, suffix } = await subject.prompt(0);
  console.log(
    `${name}, ${(parameters! / 1e6).toFixed(0)} million parameters, ${threads} threads: ` +
      `${subject.memories.length} memories, a prefix of ${prefix.length} tokens, ${suffix.length} tokens behind it`,
  );
  console.log('texts are random words: only times are measured, not quality');
  if (server === undefined) console.log('no llama-server given (--llama-server PATH): its rows are left out');
  const loadBefore = loadavg()[0]!;
  const readings = await measure(await openRows({ engine, subject, folder: folder.path, server }), sizes.rounds);
  printReadings(readings);
  console.log(agreement(readings));
  const byName = new Map([...readings].map(([row, byRound]) => [row.name, byRound]));
  for (const [one, other] of PAIRS) {
    console.log(`${one}: ${ratio(byName.get(one)!, byName.get(other)!)} × ${other}`);
  }
  console.log(
    'ms, medians over rounds in rotated order; × query: median of the ratios to the first row within a round; ' +
      'CPU: CPU time of the whole call, all threads; ' +
      `machine load ${loadBefore.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after`,
  );
});
