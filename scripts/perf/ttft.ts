/**
 * Time to the first token of an answer behind memories: `npm run perf -- ttft`. Every prefill strategy, in rotated order,
 * beside evaluating the same query behind a prefix that stands in the session already.
 * It prints and never fails on a clock: a busy machine slows all down, so read the ratios.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { median } from 'simple-statistics';
import { armOrder } from '../../src/eval/run/workers/user-run.ts';
import { composeEngine } from '../../src/bench/compose.ts';
import { modelFileOf } from '../../src/engine/gguf/model-file.ts';
import { runScript, wholeNumber } from '../run-script.ts';
import { LlamaServer } from './ttft/llama-server.ts';
import { openRows, ROW_SESSIONS, type TtftReading, type TtftRow, WARM_UP_TURNS } from './ttft/rows.ts';
import { LINK_ROW, SAME_CHUNKS_ROW } from './ttft/same-chunks.ts';
import { Subject } from './ttft/subject.ts';

const SEED = 7;
/** For the header, the words around the query and the token that is generated. */
const TOKENS_AROUND = 128;
/** Rows that take seconds stand in every fourth round. */
const ROUNDS_TO_A_SLOW_ONE = 4;
/** llama.cpp rounds a window up to a multiple of this. */
const WINDOW_STEP = 256;

/** One reading of a row in every round that it takes part in, by number of the round. */
type Readings = ReadonlyMap<TtftRow, ReadonlyMap<number, TtftReading>>;

async function measure(rows: readonly TtftRow[], rounds: number): Promise<Readings> {
  const readings = new Map(rows.map((row) => [row, new Map<number, TtftReading>()]));
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`);
    const taking = round % ROUNDS_TO_A_SLOW_ONE === 0 ? rows : rows.filter(({ slow }) => !slow);
    for (const row of armOrder(taking, SEED, round)) {
      readings.get(row)!.set(round, await row.ask(WARM_UP_TURNS + round));
    }
  }
  return readings;
}

function tableOf(readings: Readings): string {
  const head = [
    'median',
    'n',
    'TTFT, ms',
    'least',
    '× query',
    'evaluated',
    'KV load',
    'KV compute',
    'prefill',
    'call',
    'CPU',
    '× query',
  ];
  const table = new Table({
    head,
    colAligns: ['left', ...head.slice(1).map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  const [floor] = readings.values();
  for (const [{ name }, byRound] of readings) {
    const ofRow = [...byRound.values()];
    const medianOf = (value: (reading: TtftReading) => number): number => median(ofRow.map(value));
    const ratioOf = (value: (reading: TtftReading) => number): string =>
      median([...byRound].map(([round, reading]) => value(reading) / value(floor!.get(round)!))).toFixed(2);
    const cpuKnown = ofRow.every(({ cpuMs }) => cpuMs !== undefined);
    const ms = (value: (reading: TtftReading) => number): string => medianOf(value).toFixed(1);
    table.push([
      name,
      ofRow.length,
      ms(({ ttftMs }) => ttftMs),
      Math.min(...ofRow.map(({ ttftMs }) => ttftMs)).toFixed(1),
      ratioOf(({ ttftMs }) => ttftMs),
      medianOf(({ evaluatedTokens }) => evaluatedTokens),
      ms(({ kvLoadMs }) => kvLoadMs),
      ms(({ kvComputeMs }) => kvComputeMs),
      ms(({ prefillMs }) => prefillMs),
      ms(({ callMs }) => callMs),
      ...(cpuKnown ? [ms(({ cpuMs }) => cpuMs!), ratioOf(({ cpuMs }) => cpuMs!)] : ['', '']),
    ]);
  }
  return table.toString();
}

/** Compares the first token of rows whose sequence is that of the text with the text's, round by round. */
function agreement(readings: Readings): string {
  const [floor] = readings.values();
  const exact = [...readings].filter(([row]) => row.exact);
  const pairs = exact.flatMap(([, byRound]) =>
    [...byRound].map(([round, { text }]) => text === floor!.get(round)!.text),
  );
  const names = exact.map(([{ name }]) => name).join('; ');
  return `the same first token in ${pairs.filter(Boolean).length} of ${pairs.length} answers of: ${names}`;
}

/** Rows whose time is to be that of another row, or near it. */
const PAIRS = [
  [LINK_ROW, SAME_CHUNKS_ROW],
  ['dki, cache miss', 'rag'],
  ['dki-blocks, cache miss', 'rag'],
] as const;

/** Of each pair, the median of the ratios within a round. */
function pairRatios(readings: Readings): string[] {
  const named = new Map([...readings].map(([{ name }, byRound]) => [name, byRound]));
  return PAIRS.map(([one, other]) => {
    const others = named.get(other)!;
    const ratios = [...named.get(one)!].flatMap(([round, { ttftMs }]) => {
      const base = others.get(round);
      return base === undefined ? [] : [ttftMs / base.ttftMs];
    });
    return `${one}: ${median(ratios).toFixed(2)} × ${other}`;
  });
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      model: { type: 'string', default: 'random:qwen2.5-0.5b' },
      'memory-tokens': { type: 'string', default: '2000' },
      'query-tokens': { type: 'string', default: '50' },
      rounds: { type: 'string', default: '12' },
      threads: { type: 'string' },
      peer: { type: 'string' },
    },
  });
  const memoryTokens = wholeNumber('memory-tokens', values['memory-tokens'], 64);
  const queryTokens = wholeNumber('query-tokens', values['query-tokens'], 8);
  const rounds = wholeNumber('rounds', values.rounds, 1);
  const asked = values.threads === undefined ? {} : { threads: wholeNumber('threads', values.threads, 1) };
  const contextTokens = Math.ceil((memoryTokens + queryTokens + TOKENS_AROUND) / WINDOW_STEP) * WINDOW_STEP;
  const { model } = values;

  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-ttft-'));
  try {
    await using engine = await composeEngine().open({
      ...{ model, contextTokens, sessions: ROW_SESSIONS, ...asked },
      checkpointFolder: join(folder, 'checkpoints'),
    });
    const { threads } = engine.info;
    const { name, parameters } = engine.info.model;
    await using peer =
      values.peer === undefined
        ? undefined
        : await LlamaServer.start({
            ...{ binary: values.peer, modelPath: await modelFileOf(model), contextTokens, threads, slotFolder: folder },
          });
    const subject = await Subject.draw(engine, memoryTokens, queryTokens, SEED);
    const { prefix, suffix } = await subject.prompt(0);
    console.log(
      `${name}, ${(parameters! / 1e6).toFixed(0)} million parameters, ${threads} threads: ` +
        `${subject.memories.length} memories, a prefix of ${prefix.length} tokens, ${suffix.length} tokens behind it`,
    );
    console.log('the texts mean nothing: times alone are measured, no quality');
    if (peer === undefined) console.log('no llama-server was named (--peer PATH): its slot restore is not measured');
    const loadBefore = loadavg()[0]!;
    const rows = await openRows({ engine, subject, folder, peer });
    const readings = await measure(rows, rounds);
    console.log(tableOf(readings));
    console.log(agreement(readings));
    for (const line of pairRatios(readings)) console.log(line);
    console.log(
      'ms, medians over rounds in rotated order; × query: the median of the ratios to the first row within a round; ' +
        'CPU: of the whole call, all threads, which other processes do not stretch; ' +
        `load of the machine ${loadBefore.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
