/**
 * Looks for leaks in a long run: `npm run perf -- soak`. The injecting systems take many turns over changing memories, and the memory
 * of process and stores is printed.
 */
import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { linearRegression } from 'simple-statistics';
import { presetModels } from '../../src/models/default-models.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { MemorySearchResult } from '../../src/retrieval/retriever.ts';
import { DKISystem } from '../../src/systems/dki-system.ts';
import { parseRecipe } from '../../src/systems/prefill/join-recipe.ts';
import { foundMemories, openParts, storeIn } from '../open-parts.ts';
import { printTable, readOptions, runScript, ScratchFolder, wholeNumber } from '../run-script.ts';
import { RULES } from './ttft/subject.ts';

const SEED = 7;
const USERS = 12;
const MEMORIES_OF_A_USER = 12;
const MEMORIES_OF_A_TURN = 5;
/** Turns between changes: a memory is replaced or removed in turn, and all KV that contains it forgotten. */
const TURNS_TO_A_CHANGE = 10;
const LINES = 10;
const TURNS_TO_A_SAMPLE = 10;
/** Share of the turns during which caches still fill. */
const WARM_UP_SHARE = 0.3;

/** Files of KV: checkpoints of the engine, blocks of a store. */
const STATE = /\.(?:state|block)$/;
/** Files that are being written, and those that the engine moves cells through. */
const UNFINISHED = /\.(?:new|partial)$|^session-\d+\.state$/;

/** Counts the files below a folder; `stateBytes` are KV alone, without records and unfinished files. */
function filesBelow(folder: string) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const files = entries.map(({ name, parentPath }) => ({ name, size: statSync(join(parentPath, name)).size }));
  const states = files.filter(({ name }) => STATE.test(name) && !UNFINISHED.test(name));
  const size = (some: typeof files): number => some.reduce((sum, file) => sum + file.size, 0);
  const unfinished = files.filter(({ name }) => UNFINISHED.test(name)).length;
  return { bytes: size(files), stateBytes: size(states), count: files.length, unfinished };
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function drawMemories(random: SeededRandom): MemorySearchResult[] {
  return Array.from({ length: MEMORIES_OF_A_USER }, (_, index) => ({
    memoryId: `m${index + 1}`,
    content: drawContent(random),
    score: 0.5,
    metadata: {},
  }));
}

function drawContent(random: SeededRandom): string {
  const things = ['dog', 'cat', 'sister', 'garden', 'house', 'boat', 'school', 'tea', 'book', 'song'];
  return `My ${random.pick(things)} has the number ${random.int(1, 1_000_000)} since ${random.int(1900, 2026)}.`;
}

/** Takes turns with every system, changes memories, and prints the size of process and stores. */
async function soakTurns(engine: Engine, folder: string, turns: number, maxBytes: number): Promise<void> {
  const session = await engine.openSession('soak');
  using database = openDatabase({ path: join(folder, 'turns.sqlite') });
  const parts = openParts({ engine, session }, database, RULES);
  const stores = join(folder, 'stores');
  // Each has the whole limit: prefixes are checkpoints of the engine, blocks are files of their store.
  const limited = [join(stores, 'checkpoints'), join(stores, 'blocks')];
  const systems = (['prefix', 'blocks'] as const).map((name) => {
    const prefill = name === 'prefix' ? name : parseRecipe(name);
    return new DKISystem({ ...parts, prefill, openStore: storeIn(join(stores, name), maxBytes) });
  });
  const random = new SeededRandom(SEED);
  const users = Array.from({ length: USERS }, (_, index) => ({ userId: `u${index}`, memories: drawMemories(random) }));
  const head = ['turns', 'RSS, MiB', 'heap', 'buffers', 'stores on disk, MiB', 'files', 'unfinished'];
  const lines: (string | number)[][] = [];
  const rss: [turn: number, bytes: number][] = [];
  let mostBytes = 0;
  for (let turn = 1; turn <= turns; turn++) {
    const { userId, memories } = random.pick(users);
    const retrieved = foundMemories(random.shuffled(memories).slice(0, MEMORIES_OF_A_TURN));
    const query = `What do you know of number ${turn}?`;
    for (const system of systems)
      await system.chat({ query, sessionId: `s${turn}`, userId, retrieved, maxNewTokens: 4 });
    if (turn % TURNS_TO_A_CHANGE === 0) {
      const index = random.int(0, memories.length - 1);
      const { memoryId } = memories[index]!;
      const content = drawContent(random);
      for (const system of systems) {
        if (turn % (2 * TURNS_TO_A_CHANGE) === 0) await system.removeMemory(userId, memoryId, userId);
        else await system.addMemory(userId, content, { userId, memoryId });
      }
      memories[index] = { ...memories[index]!, content };
    }
    mostBytes = Math.max(mostBytes, ...limited.map((path) => filesBelow(path).stateBytes));
    if (turn % TURNS_TO_A_SAMPLE !== 0) continue;
    // Garbage is not a leak, even if it is collected late.
    collectGarbage();
    const { rss: resident, heapUsed, external } = process.memoryUsage();
    rss.push([turn, resident]);
    if (rss.length % Math.ceil(turns / TURNS_TO_A_SAMPLE / LINES) === 0) {
      const { bytes, count } = filesBelow(stores);
      const { unfinished } = filesBelow(folder);
      lines.push([turn, mib(resident), mib(heapUsed), mib(external), mib(bytes), count, unfinished]);
    }
  }
  for (const system of systems) await system[Symbol.asyncDispose]();
  const { m: slope } = linearRegression(rss.slice(Math.floor(rss.length * WARM_UP_SHARE)));
  printTable(head, lines);
  console.log(
    `after garbage collection, slope of the RSS after the first ${WARM_UP_SHARE * 100} % of the turns: ${mib(slope * 1000)} MiB in 1,000 turns; ` +
      `states of a store of ${mib(maxBytes)} MiB after a turn: at most ${mib(mostBytes)} MiB on disk; ` +
      `unfinished files left: ${filesBelow(folder).unfinished}`,
  );
}

await runScript(async () => {
  const values = readOptions({ model: presetModels.model, turns: '1000', 'kv-bytes': '8MiB' });
  const turns = wholeNumber('turns', values.turns, 10 * TURNS_TO_A_SAMPLE);
  const flags = { kvBytes: values['kv-bytes'] };
  const { kvBytes } = loadBenchConfig({ flags, environment: {}, workingFolder: tmpdir() });
  using folder = new ScratchFolder('soak');
  // The engine's private folder is counted too.
  process.env['TMPDIR'] = folder.path;
  const checkpointFolder = join(folder.path, 'stores', 'checkpoints');
  await using engine = await selectEngine().open({ model: values.model, checkpointFolder });
  await soakTurns(engine, folder.path, turns, kvBytes);
});
