import { join } from 'node:path';
import type { DatasetUser } from '../../../../data/dataset.ts';
import { visibleMemories } from '../../../../data/dataset.ts';
import type { Engine } from '../../../../engine/engine.ts';
import type { EngineSession } from '../../../../engine/engine-session.ts';
import { meterDifference } from '../../../../engine/token-meter.ts';
import type { ServedLoad, ServingMeasurement } from '../../../../store/records/results.ts';
import type { Arm } from '../../../../systems/arms/arm-registry.ts';
import { SystemPool } from '../../../../systems/system-pool.ts';
import { BenchError } from '../../../../base/bench-error.ts';
import { systemParts } from '../../bench-parts.ts';
import { KvFolder } from '../../kv-folder.ts';
import { memoryEntry } from '../../memory-entry.ts';
import type { ServeContext } from '../../suite.ts';
import { MovedBytes } from './moved-bytes.ts';
import { planLoad, type PlannedTurn } from './plan-load.ts';
import { answeredOf, playLoad, type ServedTurn } from './play-load.ts';
import { servedLoad, textsOf } from './served-load.ts';

/** Rates, from the first share of the capacity of `rag` to the last share of the best arm's. */
const RATES = 5;
const [LOWEST, HIGHEST] = [0.25, 1.1];
const RAG = 'rag';

/** The rates at which all arms are loaded, in equal ratios. */
function ratesOf(capacity: Readonly<Record<string, number>>): number[] {
  const best = Math.max(...Object.values(capacity));
  const lowest = LOWEST * (capacity[RAG] ?? best);
  const ratio = ((HIGHEST * best) / lowest) ** (1 / (RATES - 1));
  return Array.from({ length: RATES }, (_, place) => lowest * ratio ** place);
}

/** A load as it was served, and what was seen beside its turns. */
interface Played {
  readonly served: readonly ServedTurn[];
  readonly meter: Awaited<ReturnType<Engine['meter']>>;
  readonly movedBytes: number;
}

/** Plays loads to the arms of a run, each on an empty store. */
class Server {
  readonly #context: ServeContext;
  readonly #engine: Engine;
  readonly #sessions: readonly EngineSession[];

  constructor(context: ServeContext, engine: Engine, sessions: readonly EngineSession[]) {
    this.#context = context;
    this.#engine = engine;
    this.#sessions = sessions;
  }

  async play(arm: Arm, plan: readonly PlannedTurn[], rate: number): Promise<Played> {
    const { config, folder, keeper, signal } = this.#context;
    using stores = new KvFolder({ kvBytes: config.kvBytes }, storesFolder(folder));
    const store = await stores.opener(arm.traits.name)(this.#engine);
    const moved = new MovedBytes();
    await using pool = await SystemPool.open(this.#sessions.length, (place) => {
      const session = moved.counted(this.#sessions[place]!);
      const parts = systemParts({ engine: this.#engine }, session, config, keeper);
      return Promise.resolve(arm.open({ ...parts, openStore: () => Promise.resolve(store) }));
    });
    // Queries that were asked before are embedded and searched anew.
    await keeper.reset();
    const before = await this.#engine.meter();
    const clients = this.#sessions.length;
    const served = await playLoad(pool, plan, { rate, clients, userIdOf, signal });
    const meter = meterDifference(await this.#engine.meter(), before);
    await pool.reset();
    return { served, meter, movedBytes: moved.bytes };
  }
}

/** The users of the load are none of those who were asked before: they have all their memories from the start. */
const userIdOf = ({ userId }: DatasetUser): string => `serving/${userId}`;

const storesFolder = (folder: string): string => join(folder, 'serving');

async function addMemories({ keeper, runId }: ServeContext, users: readonly DatasetUser[]): Promise<void> {
  for (const user of users) {
    const last = user.items.at(-1);
    if (last === undefined) continue;
    await keeper.addAll(
      `${runId}/${userIdOf(user)}`,
      userIdOf(user),
      visibleMemories(user, last)
        .map(memoryEntry)
        .map((entry) => ({ ...entry, memoryId: `serving/${entry.memoryId}` })),
    );
  }
}

/**
 * Table 12: conversations arrive at planned times, at the same rates for every arm; times count from the planned arrival. The
 * capacity of each arm is measured first, with as many conversations at once as there are sessions.
 */
export async function measureServing(context: ServeContext): Promise<ServingMeasurement> {
  const { config, datasets, engines, folder, arms, onStep, signal } = context;
  const { model, contextTokens, threads, sessions, recurrence, seed } = config;
  const users = datasets.flatMap((drawn) => drawn.users);
  const plan = planLoad(users, recurrence, seed);
  if (plan.length < 2) {
    throw new BenchError('bad-option', `suite serving needs 2 turns, and has ${plan.length}`, 'raise --limit');
  }
  const asked = arms.filter(({ traits }) => traits.retrieves === 'retrieved' && traits.control === null);
  await using engine = await engines.open(
    {
      ...{ model, sessions, checkpointFolder: join(storesFolder(folder), 'checkpoints') },
      ...(contextTokens === undefined ? {} : { contextTokens }),
      ...(threads === undefined ? {} : { threads }),
    },
    { signal },
  );
  const opened: EngineSession[] = [];
  for (let place = 0; place < sessions; place++) opened.push(await engine.openSession(`serving-${place}`));
  await addMemories(context, users);
  const server = new Server(context, engine, opened);
  let done = 0;
  const played = async (arm: Arm, rate: number): Promise<Played> => {
    const result = await server.play(arm, plan, rate);
    onStep(++done, asked.length * (RATES + 1));
    return result;
  };

  const capacity: Record<string, number> = {};
  for (const arm of asked) {
    const { served } = await played(arm, Infinity);
    const ended = Math.max(...served.map(({ outcome }) => outcome.doneMs));
    capacity[arm.traits.name] = (answeredOf(served).length / ended) * 1000;
  }
  const loads: ServedLoad[] = [];
  for (const rate of ratesOf(capacity)) {
    const texts = new Map<string, readonly (string | null)[]>();
    const seen: { readonly arm: Arm; readonly result: Played }[] = [];
    for (const arm of asked) {
      const result = await played(arm, rate);
      texts.set(arm.traits.name, textsOf(result.served));
      seen.push({ arm, result });
    }
    for (const { arm, result } of seen) {
      const { served, meter, movedBytes } = result;
      const { name } = arm.traits;
      const text = name === RAG ? undefined : texts.get(RAG);
      loads.push(servedLoad(served, { arm: name, sessions, meter, movedBytes, text }));
    }
  }
  const conversations = new Set(plan.map(({ conversation }) => conversation)).size;
  return { sessions, conversations, recurrence, capacity, loads };
}
