import { type Command, Option } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { checkSchema } from '../data/check-schema.ts';
import { generateTraffic, trafficSchema } from '../data/generators/traffic.ts';
import { readTrace } from '../data/traces/read-trace.ts';
import { writeText } from '../data/write-lines.ts';
import { fileGeometry, type ModelGeometry, shapeGeometry, shapeNames } from '../engine/gguf/model-geometry.ts';
import { resolveModelFile } from '../engine/gguf/model-file.ts';
import { breakEven, estimateTraffic, summariseTrace } from '../eval/run/estimate/estimate-traffic.ts';
import { measuredCosts, SAME_MODEL, writtenCosts } from '../eval/run/estimate/estimated-costs.ts';
import { MAP_LENGTHS, simulateMap } from '../eval/run/estimate/simulate-reuse-map.ts';
import { type EvictionPolicy, evictionPolicies } from '../kv/eviction-queue.ts';
import type { Trace } from '../kv/traffic/trace.ts';
import { resolveModel } from '../models/model-registry.ts';
import { pictureFile, renderFigure } from '../render/figure.ts';
import { estimatedMapTable, keptQuality, type KeptQuality, reuseMapFigure } from '../report/topics/reuse.ts';
import { estimateFigure, estimateTable, type TrafficEstimate } from '../report/traffic-estimate.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { simulatedArmNames } from '../systems/simulator/simulated-arms.ts';
import type { SimulatedMachine } from '../systems/simulator/simulated-turn.ts';
import { findReports, readReport } from '../viewer/open-reports.ts';
import { type JsonFlag, withExamples } from './options.ts';
import { printResultTables } from './output.ts';

type TextFlag =
  'trace' | 'traceRun' | 'traceArm' | 'traffic' | 'model' | 'shape' | 'costs' | 'figure' | 'map' | 'quality';
type EstimateFlags = JsonFlag &
  Readonly<Partial<Record<TextFlag | 'read' | 'copy' | 'prefill', string>> & Record<'ram' | 'disk', string>> & {
    readonly policy: EvictionPolicy;
  };

const dropped: Readonly<Record<EvictionPolicy, string>> = {
  'cost-recency': 'cheap to evaluate again and long unused',
  lru: 'longest unused',
};

/** Options that exclude each other. A map has traffic and machines of its own. */
const CONFLICTS: Readonly<Record<string, string[]>> = {
  traffic: ['trace', 'traceRun', 'traceArm'],
  shape: ['model'],
  costs: ['read', 'copy', 'prefill'],
  quality: ['trace', 'traffic'],
  map: ['trace', 'traceRun', 'traceArm', 'traffic', 'figure', 'ram', 'disk', 'policy'],
};

const help = `
A trace is JSON Lines of your own, one of Mooncake's, or the database of a run (docs/traces.md).
--traffic generates one: ${Object.keys(trafficSchema.shape).join(', ')}.
Sizes and speeds: 64GiB, 1TB, 3GB/s. All times are of one turn alone, without queueing, retrieval and tokenising.`;

export function declare(command: Command): void {
  command
    .description(
      'estimate what each arm would do with your traffic: hits, tokens, time to first token, bytes; no model is loaded',
    )
    .option('--trace <file>', 'recorded traffic')
    .option('--trace-run <name>', 'run of --trace, for the database of runs (default: the latest)')
    .option('--trace-arm <name>', 'arm of the run of --trace (default: rag)')
    .option('--traffic <values>', 'generated traffic in place of --trace, as name=value, comma-separated')
    .option('--model <file>', 'model whose size to use: a GGUF file, or a name; only its header is read')
    .option('--shape <name>', `size of a model without its file: ${shapeNames.join(', ')}`)
    .option('--ram <size>', 'memory in which each arm may keep KV', '64GiB')
    .option('--disk <size>', 'disk on which arms that store KV may keep it; 0 for none', '1TiB')
    .addOption(
      new Option(
        '--policy <name>',
        'what full caches drop: what is cheap to evaluate again and long unused, or the latter',
      )
        .choices(evictionPolicies)
        .default('cost-recency'),
    )
    .option('--read <speed>', 'speed of reading the disk (default: 3GB/s)')
    .option('--copy <speed>', 'speed of copying KV from memory to the model (default: 20GB/s)')
    .option('--prefill <tokens>', 'tokens of a short prompt evaluated per second (default: at 100 TFLOP/s)')
    .option('--costs <file>', 'results.json of suite length, whose times replace --read, --copy and --prefill')
    .option('--figure <file>', 'SVG to write: times to first token of all turns')
    .option('--map <file>', 'in place of traffic: SVG to write of the fastest arm by length and reuse')
    .option(
      '--quality <reports>',
      'reports of runs, comma-separated: the map shows other than exact arms only where they keep the answers of text',
    )
    .option('--json', 'print one JSON document')
    .addHelpText('after', help)
    .action(estimate);
  for (const option of command.options) option.conflicts(CONFLICTS[option.attributeName()] ?? []);
  withExamples(command, {
    'estimate --trace traffic.jsonl --shape 8b --ram 64GiB --disk 1TiB --read 3GB/s': 'your own traffic',
    'estimate --traffic users=1000,memories=2000,retrieved=5,turns=100000 --shape 70b': 'traffic by its properties',
    'estimate --trace reports/dki-bench.sqlite --trace-run mine --costs reports/length/results.json --model smollm2-135m':
      'the traffic of a run, at times measured here',
    'estimate --map map.svg --shape 8b': 'the fastest arm by length and reuse of the memories',
    'estimate --map map.svg --model smollm2-135m --costs reports/times/results.json --quality reports/answers':
      'the same at times and with answers that were measured',
  });
}

async function estimate({ json, figure, map, quality, ...flags }: EstimateFlags): Promise<void> {
  const geometry = await modelGeometry(flags);
  const { costs, assumed, lengths } = chooseCosts(flags, geometry);
  const bytes = (tokens: number): number => tokens * geometry.kvBytesPerToken;
  const limits = { exactCuts: 1, slidingWindowTokens: null, leastTokens: 1 };
  const kept = { limits, kvBytes: bytes, fileBytes: bytes };
  const always = [
    `a token takes ${geometry.kvBytesPerToken} bytes of KV (f16), and KV can be cut after any token`,
    'turns never wait for each other, and retrieval and tokenising take no time',
  ];
  if (map !== undefined) {
    const keeping = quality?.split(',').flatMap((path) => measuredQuality(path, geometry));
    const simulated = await simulateMap(lengths ?? MAP_LENGTHS, kept, costs);
    await writeText(map, pictureFile(await renderFigure(reuseMapFigure(simulated, geometry.name, keeping))));
    const table = estimatedMapTable(simulated, geometry.name, [...assumed, ...always], keeping);
    printResultTables(json, simulated, [table]);
    return;
  }
  const trace = await traffic(flags);
  const memoryBytes = readBytes('--ram', flags.ram);
  const diskBytes = readBytes('--disk', flags.disk);
  const machine: SimulatedMachine = { ...kept, memoryBytes, diskBytes, policy: flags.policy };
  const summary = summariseTrace(trace, geometry.kvBytesPerToken);
  const estimated: TrafficEstimate = {
    trace: summary,
    model: geometry.name,
    arms: await estimateTraffic(trace, machine, costs),
    breakEven: breakEven(machine, costs, summary.meanPromptTokens),
    assumed: [
      ...assumed,
      `each arm alone has ${flags.ram} of RAM, and ${flags.disk} of disk if it uses one`,
      `full caches drop what is ${dropped[flags.policy]}`,
      ...always,
    ],
  };
  if (figure !== undefined) {
    const traits = { arms: armRegistry.named(simulatedArmNames, { alpha: 1, gatingThreshold: 0 }) };
    await writeText(figure, pictureFile(await renderFigure(estimateFigure(estimated, traits))));
  }
  printResultTables(json, estimated, [estimateTable(estimated)]);
}

async function traffic({ trace, traceRun, traceArm, traffic: values }: EstimateFlags): Promise<Trace> {
  if (trace !== undefined) return await readTrace(trace, { run: traceRun, arm: traceArm });
  if (values === undefined) {
    const hint = 'give --trace FILE, or --traffic users=1000,memories=200';
    throw new BenchError('bad-option', 'no traffic is named', hint);
  }
  const pairs = values.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  const given = pairs.map(([name = '', value = '']) => [
    name,
    value === '' || Number.isNaN(Number(value)) ? value : Number(value),
  ]);
  return generateTraffic(checkSchema(trafficSchema, Object.fromEntries(given), '--traffic'));
}

async function modelGeometry({ model, shape }: EstimateFlags): Promise<ModelGeometry> {
  if (shape !== undefined) return shapeGeometry(shape);
  if (model === undefined) throw new BenchError('bad-option', 'no model is named', 'give --model FILE, or --shape 8b');
  return fileGeometry(await resolveModelFile(resolveModel(model, process.cwd())));
}

/** What the arms of reports keep of text's quality. @throws BenchError `bad-data` for reports of another model */
function measuredQuality(path: string, { name, parameters }: ModelGeometry): KeptQuality[] {
  return findReports(path, '--quality').flatMap((folder) => {
    const results = readReport(folder);
    const { model } = results.run;
    if (Math.abs((model.parameters ?? 0) / parameters - 1) <= SAME_MODEL) return keptQuality(results);
    const message = `--quality ${folder}: a run of ${model.name}, and the map is of ${name}`;
    throw new BenchError('bad-data', message, 'name reports of the same model, or its --model');
  });
}

/** The costs of a turn, and what they assume. */
function chooseCosts({ costs: file, read, copy, prefill }: EstimateFlags, geometry: ModelGeometry) {
  if (file !== undefined) return measuredCosts(file, geometry);
  const tokensPerSecond = prefill === undefined ? undefined : Number(prefill);
  if (tokensPerSecond !== undefined && !(tokensPerSecond > 0)) {
    const message = `--prefill ${prefill}: expected tokens per second`;
    throw new BenchError('bad-option', message, 'write a number, such as 5000');
  }
  return writtenCosts(geometry, {
    tokensPerSecond,
    readBytesPerSecond: readBytes('--read', read ?? '3GB/s', '/s'),
    copyBytesPerSecond: readBytes('--copy', copy ?? '20GB/s', '/s'),
  });
}

const UNITS: Readonly<Record<string, number>> = {
  ...{ '': 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 },
};

/** Bytes of `64GiB`, or a second of `3GB/s`. @throws BenchError `bad-option`; a speed of 0 is refused too */
function readBytes(option: string, text: string, suffix: '' | '/s' = ''): number {
  const [, number, unit, per = ''] = /^(\d+(?:\.\d+)?) ?([KMGT]i?B|B|)(\/s)?$/.exec(text) ?? [];
  const bytes = Number(number) * UNITS[unit ?? '']!;
  if (number !== undefined && per === suffix && (bytes > 0 || suffix === '')) return bytes;
  const [what, example] = suffix === '' ? ['a size', '64GiB'] : ['a speed', '3GB/s'];
  throw new BenchError('bad-option', `${option} ${JSON.stringify(text)}: expected ${what}`, `write it as ${example}`);
}
