import { join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import type { DatasetUser } from '../../../data/dataset.ts';
import { generateTraffic, trafficSchema } from '../../../data/generators/traffic.ts';
import { requireCells } from '../../../engine/engine-capabilities.ts';
import type { Engine } from '../../../engine/engine.ts';
import { cellBytes } from '../../../engine/sequence-state.ts';
import { blockFileBytes } from '../../../kv/block-file.ts';
import type { LengthMeasurement, ReuseMeasurement } from '../../../store/records/suite-measurements.ts';
import { costsOfLengths } from '../../../systems/simulator/access-costs.ts';
import { type SimulatedArmName, simulatedArmNames } from '../../../systems/simulator/simulated-arms.ts';
import { wayName } from '../../analysis/summary/length-break-even.ts';
import { distinctTokens, simulateMap } from '../estimate/simulate-reuse-map.ts';
import { summariseTrace } from '../estimate/summarise-trace.ts';
import type { ServeContext } from '../suite.ts';
import { lengthFrame, measureLength } from './measure-length.ts';
import { compareTurns, playArm, type PlayedArm, playedMachine, playedPrompts } from './play-traffic.ts';

const TURNS = 1000;
/** Share of the memories' KV that the arms may keep, so that some must go. */
const ROOM = 1 / 4;
/** Lengths at which costs are measured. */
const COST_LENGTHS = [64, 128, 256, 1024];

/**
 * Plays generated traffic to each arm, with the memories and questions of the data, and simulates the same turns; then simulates
 * traffic of many lengths and degrees of reuse, at the costs that suite `length` measures here. Users share one store.
 * @throws BenchError `bad-data` if no user has more memories than are retrieved
 */
export async function measureReuse(context: ServeContext): Promise<ReuseMeasurement> {
  const { config } = context;
  const before = await measureLengths(context);
  const users = trafficUsers(context);
  const memories = Math.min(...users.map((user) => user.memories.length));
  const traffic = { turns: config.limit ?? TURNS, users: users.length, memories, retrieved: config.topK };
  const trace = generateTraffic(trafficSchema.parse({ ...traffic, seed: config.seed }));
  await using engine = await openEngine(context);
  await using session = await engine.openSession('reuse');
  const opened = { engine, session };
  const { layout } = requireCells(engine);
  const kept = {
    limits: engine.capabilities,
    kvBytes: (tokens: number) => tokens * cellBytes(layout),
    fileBytes: (tokens: number) => blockFileBytes(layout, tokens),
  };
  // `rag` stores nothing; its prompts tell how many tokens the memories have, and so the bytes of a quarter of them.
  const text = await playArm(context, opened, 'rag', { trace, users, maxBytes: config.kvBytes });
  const maxBytes = config.given.includes('kvBytes')
    ? config.kvBytes
    : Math.ceil(ROOM * distinctTokens(playedPrompts(text, trace)) * cellBytes(layout));
  const played = new Map<SimulatedArmName, PlayedArm>([['rag', text]]);
  for (const arm of simulatedArmNames) {
    context.signal.throwIfAborted();
    if (!played.has(arm)) played.set(arm, await playArm(context, opened, arm, { trace, users, maxBytes }));
    context.onStep(played.size, simulatedArmNames.length + 1);
  }
  // A machine is faster at one time and slower at another: costs are those before and after the turns.
  const measured = joinRepeats([...before, ...(await measureLengths(context))]);
  const costs = costsOfLengths(measured, lengthFrame);
  const costsUpTo = Math.max(...measured.map(({ tokens }) => tokens));
  const arms: ReuseMeasurement['arms'][number][] = [];
  for (const [arm, turns] of played) {
    const machine = playedMachine(kept, arm, maxBytes, turns.responses);
    arms.push(await compareTurns(arm, turns, { prompts: playedPrompts(turns, trace), machine, costs }));
  }
  const map = await simulateMap(config.lengths, kept, costs, context.signal);
  context.onStep(simulatedArmNames.length + 1, simulatedArmNames.length + 1);
  const { repeatedShare } = summariseTrace(trace, cellBytes(layout));
  return { traffic: { ...traffic, repeated: repeatedShare }, maxBytes, arms, costs, costsUpTo, map };
}

function measureLengths(context: ServeContext): Promise<readonly LengthMeasurement[]> {
  const config = { ...context.config, lengths: COST_LENGTHS };
  const withoutStore = { ...context, config, measured: null, save: async () => undefined };
  return measureLength(withoutStore, { types: ['f16'] });
}

/** Measurements of the same ways, one row for each way and length. */
function joinRepeats(rows: readonly LengthMeasurement[]): LengthMeasurement[] {
  const same = Map.groupBy(rows, (row) => `${wayName(row)} ${row.tokens}`);
  return [...same.values()].map((of) => ({
    ...of[0]!,
    exports: of.flatMap(({ exports = [] }) => exports),
    repeats: of.flatMap(({ repeats }) => repeats),
  }));
}

function openEngine({ config, engines, folder, signal }: ServeContext): Promise<Engine> {
  const { model, contextTokens, threads } = config;
  const checkpointFolder = join(folder, 'reuse', 'checkpoints');
  return engines.open({ model, checkpointFolder, contextTokens, threads }, { signal });
}

/** Users with more memories than a prompt shows. */
function trafficUsers({ datasets, config: { topK } }: ServeContext): DatasetUser[] {
  const users = datasets
    .flatMap((drawn) => drawn.users)
    .filter(({ items, memories }) => items.length > 0 && memories.length > topK);
  if (users.length > 0) return users;
  const message = `suite reuse needs users with more than ${topK} memories, and the data have none`;
  throw new BenchError('bad-data', message, 'lower --top-k, or choose data with more memories per user');
}
