import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { TemporaryFolder } from '../../../base/temporary-folder.ts';
import { requireCells } from '../../../engine/engine-capabilities.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { fullLayers } from '../../../engine/gguf/random-model/random-model.ts';
import { kvBytes, type SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { meterDifference } from '../../../engine/token-meter.ts';
import { ArenaCells } from '../../../kv/arena-cells.ts';
import { readBlockFile, writeBlockFile } from '../../../kv/block-file.ts';
import { cutCells } from '../../../kv/cut-cells.ts';
import { contiguousPositions, joinBlocks } from '../../../kv/join-blocks.ts';
import { KvStore } from '../../../kv/kv-disk-store.ts';
import { readQuantised, writeQuantised } from '../../../kv/quantised-block.ts';
import { quantisedTypes, type StoreType } from '../../../store/records/prefill-record.ts';
import { type LengthMeasurement, lengthSteps, type LengthStep } from '../../../store/records/suite-measurements.ts';
import type { OpenEngine } from '../../../systems/answer-turn.ts';
import type { MeasureContext } from '../suite.ts';
import { EnergyMeter } from './energy-meter.ts';

const HEADER_TOKENS = 16;
const BLOCK_TOKENS = 48;
const QUERY_TOKENS = 24;
const REPEATS = 10;
/** Evaluating a long text takes minutes: at least this often, and no more once it has taken this long, in ms. */
const MIN_REPEATS = 3;
const ENOUGH_MS = 60_000;
const USER = 'length';
/** Share of the bytes that a cold repeat must read from the disk. */
const COLD_SHARE = 0.9;

/** Tokens in front of the memories, and of the query behind them. */
export const lengthFrame = { headerTokens: HEADER_TOKENS, queryTokens: QUERY_TOKENS };

type StepTimes = Record<LengthStep, number>;

/** Called after each measured repeat of KV that is stored in files, with their folder. */
export type AfterRepeat = (
  stored: Pick<LengthMeasurement, 'tokens' | 'way' | 'tier' | 'type' | 'bytes'>,
  folder: string,
) => void;

/** A way to the first token: what is prepared once, and what each repeat does. */
interface Way extends Pick<LengthMeasurement, 'way' | 'tier' | 'type' | 'bytes' | 'exports'> {
  /** Holds the files of stored KV. */
  readonly folder?: string;
  /** Makes the session as it is when a turn begins. Not timed. */
  readonly before?: () => Promise<void> | void;
  /** Fills the session up to the query, and times each step. */
  readonly fill: (steps: StepTimes) => Promise<void>;
  /** Frees memory outside of JavaScript's heap. */
  readonly free?: () => void;
}

export interface LengthOptions {
  /** Number types of stored KV. Default: all. */
  readonly types?: readonly StoreType[];
  readonly afterRepeat?: AfterRepeat | undefined;
}

/**
 * Time to first token by length of the memories and by where their KV is: text, KV that is resident, and one exact prefix or
 * joined blocks from memory and from disk, in each number type. As in the arms, an exact prefix in f16 is a checkpoint, and other
 * KV is imported as cells. Blocks have 48 tokens. The ways take turns in each repeat. A length is stored when it is measured;
 * those that an interrupted run stored are not measured again.
 */
export async function measureLength(
  context: MeasureContext,
  options: LengthOptions = {},
): Promise<readonly LengthMeasurement[]> {
  const { model, threads, lengths } = context.config;
  const behind = HEADER_TOKENS + QUERY_TOKENS + 8;
  const { trainContextTokens } = (await context.engines.inspect(model)).model;
  const fitting = lengths.filter((tokens) => tokens + behind <= trainContextTokens);
  if (fitting.length === 0) {
    const message = `--lengths ${lengths.join(',')}: with ${behind} tokens around them, none fits the ${trainContextTokens} of the model`;
    throw new BenchError('bad-option', message, 'give shorter ones');
  }
  const measured = [...(context.measured?.length ?? [])];
  const known = new Set(measured.map(({ tokens }) => tokens));
  for (const [index, tokens] of fitting.entries()) {
    if (known.has(tokens)) continue;
    context.signal.throwIfAborted();
    using folder = new TemporaryFolder();
    const request = {
      ...{ model, threads, contextTokens: tokens + behind, checkpointFolder: checkpointsIn(folder.path) },
      // Its copy in memory is what is measured, so it must have space.
      checkpointMemoryBytes: Infinity,
    };
    await using engine = await context.engines.open(request);
    measured.push(...(await measureWays({ engine, tokens, folder: folder.path }, context, options)));
    await context.save({ length: measured });
    context.onStep(index + 1, fitting.length);
  }
  return measured;
}

async function measureWays(
  { engine, tokens, folder }: { engine: Engine; tokens: number; folder: string },
  { config, signal }: MeasureContext,
  { types = ['f16', ...quantisedTypes], afterRepeat }: LengthOptions,
): Promise<LengthMeasurement[]> {
  using energy = new EnergyMeter();
  await using session = await engine.openSession('length');
  const random = new SeededRandom(config.seed);
  const ids = await ordinaryTokens(engine);
  const draw = (count: number): TokenId[] => Array.from({ length: count }, () => random.pick(ids));
  const [prefix, query] = [draw(HEADER_TOKENS + tokens), draw(QUERY_TOKENS)];
  const waysHere = await openWays({ engine, session, types }, prefix, folder);
  const rows = waysHere.map((way) => ({
    way,
    repeats: [] as LengthMeasurement['repeats'][number][],
    evaluated: null as number | null,
    token: undefined as TokenId | undefined,
    spentMs: 0,
  }));
  for (let repeat = 0; repeat <= REPEATS; repeat++) {
    for (const row of rows) {
      signal.throwIfAborted();
      if (repeat > MIN_REPEATS && row.spentMs > ENOUGH_MS) continue;
      await row.way.before?.();
      const steps = Object.fromEntries(lengthSteps.map((step) => [step, 0])) as StepTimes;
      const [joules, read, meter] = [energy.joules(), readFromDisk(), await session.meter()];
      const start = performance.now();
      await row.way.fill(steps);
      const { firstTokenMs, tokens: given } = await session.generate(query, { maxTokens: 1 }, { signal });
      const { evaluated } = meterDifference(await session.meter(), meter);
      steps.evaluate += firstTokenMs;
      row.spentMs += performance.now() - start;
      row.evaluated = evaluated;
      // The first repeat warms up. Later ones may skip the text, and then the resident KV is another way's.
      if (repeat === 0) {
        row.token = given[0];
        continue;
      }
      row.repeats.push({
        steps,
        joules: difference(energy.joules(), joules),
        diskBytes: difference(readFromDisk(), read),
      });
      if (row.way.folder !== undefined) afterRepeat?.({ tokens, ...row.way }, row.way.folder);
    }
  }
  for (const { way } of rows) way.free?.();
  const layers = measuredLayers(config.model, engine);
  const measured = rows.map(({ way: { way, tier, type, bytes, exports }, evaluated, token, repeats }) => {
    const sameToken = token === rows[0]!.token;
    return { tokens, way, tier, type, bytes, ...(exports && { exports }), ...layers, evaluated, sameToken, repeats };
  });
  return measured.filter(isInTier);
}

function measuredLayers(model: string, { info }: Engine): Pick<LengthMeasurement, 'layers'> {
  const [full, measured] = [fullLayers(model), info.model.layers];
  return full === undefined || measured === null ? {} : { layers: { measured, full } };
}

function difference(now: number | null, before: number | null): number | null {
  return now === null || before === null ? null : now - before;
}

/**
 * True if KV came from where it should in each repeat. Nearly all bytes of cold KV are read from the disk: files may be cached, and
 * some systems drop none. Engines that hold no copies of checkpoints in memory read a file instead.
 */
function isInTier({ tier, bytes, repeats }: LengthMeasurement): boolean {
  if (tier === 'memory') return repeats.every(({ steps }) => steps.read === 0);
  return tier !== 'guest-cold' || repeats.every(({ diskBytes }) => (diskBytes ?? 0) >= COLD_SHARE * bytes);
}

/** Bytes that this process has read from disks; null where the system does not count them. */
function readFromDisk(): number | null {
  const path = '/proc/self/io';
  const counts = existsSync(path) ? /^read_bytes: (\d+)$/m.exec(readFileSync(path, 'utf8')) : null;
  return counts === null ? null : Number(counts[1]);
}

/** Adds the time of some work to a step, in ms. */
export async function timed<Step extends string, T>(
  steps: Record<Step, number>,
  step: Step,
  work: () => T | Promise<T>,
): Promise<T> {
  const start = performance.now();
  const result = await work();
  steps[step] += performance.now() - start;
  return result;
}

/** The tokens of some ordinary words. */
async function ordinaryTokens(engine: Engine): Promise<readonly TokenId[]> {
  const text = 'My neighbour moved here from the coast last year and works in a small bakery near the old bridge.';
  const [ids = []] = await engine.tokenize([{ text, as: 'text' }]);
  return ids;
}

/** The cells of a session from one on. */
async function copyCells(session: EngineSession, start: number): Promise<SequenceState> {
  using cells = await session.exportCells({ start, end: session.cells });
  return cutCells(cells, 0, cells.positions.length);
}

/** All ways at one length. KV that is on disk is written here, and removed with the folder. */
async function openWays(
  { engine, session, types }: OpenEngine & Required<Pick<LengthOptions, 'types'>>,
  prefix: readonly TokenId[],
  folder: string,
): Promise<Way[]> {
  const { rotary } = requireCells(engine);
  await session.clear();
  await session.evaluate(prefix);
  const none = { tier: null, type: null, bytes: 0 } as const;
  const text: Way = {
    ...{ way: 'text', ...none },
    fill: (steps) =>
      timed(steps, 'evaluate', async () => {
        await session.clear();
        await session.evaluate(prefix);
      }),
  };
  const found = types.includes('f16') ? await checkpointWays({ engine, session }, folder) : [];
  const whole = await copyCells(session, 0);
  const header = cutCells(whole, 0, HEADER_TOKENS);
  const blocks: SequenceState[] = [];
  const exports: { bytes: number; ms: number }[] = [];
  // Each is evaluated directly behind the header, as blocks are.
  for (let start = HEADER_TOKENS; start < prefix.length; start += BLOCK_TOKENS) {
    await session.truncate(HEADER_TOKENS);
    await session.evaluate(prefix.slice(start, start + BLOCK_TOKENS));
    const steps = { export: 0 };
    const block = await timed(steps, 'export', () => copyCells(session, HEADER_TOKENS));
    blocks.push(block);
    exports.push({ bytes: kvBytes(block), ms: steps.export });
  }
  const resident: Way = {
    ...{ way: 'resident', ...none },
    // Any way before this one has left the same number of cells before the query.
    before: () => session.truncate(prefix.length),
    fill: async () => undefined,
  };
  const importing: UseCells = (steps, [state]) => timed(steps, 'import', () => session.importCells(state!));
  const joining: UseCells = async (steps, [front, ...rest]) => {
    const positions = contiguousPositions(rest, HEADER_TOKENS);
    const placements = rest.map((block, index) => ({ block, position: positions[index]!, alpha: 1 }));
    using joined = await timed(steps, 'join', () => joinBlocks(front!, placements, { rotary }));
    await importing(steps, [joined]);
  };
  for (const type of types.filter((one) => one !== 'f16')) {
    found.push(...(await storedWays(engine, { way: 'prefix', parts: [whole], use: importing, type, folder })));
  }
  for (const type of types) {
    const stored = { way: 'blocks', parts: [header, ...blocks], use: joining, type, folder } as const;
    const [memory, ...others] = await storedWays(engine, stored);
    found.push(type === 'f16' ? { ...memory!, exports } : memory!, ...others);
  }
  return [text, resident, ...found];
}

function checkpointsIn(folder: string): string {
  return join(folder, 'prefix-f16', 'checkpoints');
}

/** A content key; each way has a store of its own. */
function keyOf(index: number): string {
  return index.toString(16).padStart(64, '0');
}

/** Saves the session as a checkpoint. The engine restores its verified copy in memory, or reads the file if that was touched. */
async function checkpointWays({ engine, session }: OpenEngine, folder: string): Promise<Way[]> {
  const path = join(folder, 'prefix-f16');
  const files = checkpointsIn(folder);
  const store = await KvStore.open(join(path, 'store'), Infinity, engine);
  const { bytes } = await store.keepCheckpoint(USER, keyOf(0), [], (id) => session.checkpoint({ id }));
  const fill = async (steps: StepTimes): Promise<void> => {
    const checkpoint = await timed(steps, 'find', () => store.findCheckpoint(USER, keyOf(0)));
    const spent = { read: 0, verify: 0 };
    await timed(steps, 'import', () => session.restore(checkpoint!, { spent }));
    steps.read += spent.read;
    steps.verify += spent.verify;
    steps.import -= spent.read + spent.verify;
  };
  const read = { fill, before: () => touchFiles(files) };
  return inTiers({ way: 'prefix', type: 'f16', bytes, folder: path }, { memory: { fill }, disk: read });
}

type Stored = Pick<Way, 'way' | 'type' | 'bytes' | 'folder'> & { readonly folder: string };
type Access = Pick<Way, 'before' | 'fill' | 'free'>;

/** The same KV from memory, from disk, and from disk without the cache of the operating system, where that can be dropped. */
function inTiers(stored: Stored, { memory, disk }: Readonly<Record<'memory' | 'disk', Access>>): Way[] {
  const before = async () => {
    await disk.before?.();
    dropFromCache(stored.folder);
  };
  return [
    { ...stored, ...memory, tier: 'memory' },
    { ...stored, ...disk, tier: 'disk' },
    ...(process.platform === 'linux' ? [{ ...stored, ...disk, before, tier: 'guest-cold' as const }] : []),
  ];
}

/** Brings KV into the session. */
type UseCells = (steps: StepTimes, parts: readonly SequenceState[]) => Promise<void>;

interface StoredWay {
  readonly way: 'prefix' | 'blocks';
  readonly parts: readonly SequenceState[];
  readonly use: UseCells;
  readonly type: StoreType;
  readonly folder: string;
}

/** KV that is restored from its bytes and then imported. */
async function storedWays(engine: Engine, { way, parts, use, type, folder }: StoredWay): Promise<Way[]> {
  const bytes = parts.map((part) => (type === 'f16' ? writeBlockFile(part) : writeQuantised(part, type)));
  const size = bytes.reduce((sum, { length }) => sum + length, 0);
  const restore = (stored: Uint8Array) => (type === 'f16' ? readBlockFile(stored) : readQuantised(stored));
  const path = join(folder, `${way}-${type}`);
  const store = await KvStore.open(path, 2 * size + 2 ** 20, engine);
  for (const [index, part] of bytes.entries()) {
    const tokens = parts[index]!.positions.length;
    await store.keepBlock({ userId: USER, key: keyOf(index), tokens, memoryIds: [] }, part);
  }
  const resident = type === 'f16' ? parts.map((part) => new ArenaCells(part)) : [];
  const fromMemory = async (steps: StepTimes): Promise<void> =>
    use(steps, await timed(steps, 'convert', () => (type === 'f16' ? resident : bytes.map(restore))));
  const fromDisk = async (steps: StepTimes): Promise<void> => {
    const states: SequenceState[] = [];
    for (const index of bytes.keys()) {
      const stored = await store.findBlock(USER, keyOf(index), steps);
      states.push(await timed(steps, 'convert', () => restore(stored!.bytes)));
    }
    await use(steps, states);
  };
  const memory = { fill: fromMemory, free: () => resident.forEach((cells) => cells.erase()) };
  return inTiers({ way, type, bytes: size, folder: path }, { memory, disk: { fill: fromDisk } });
}

function filesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name));
}

/** The engine no longer trusts its copies of files that were touched. */
function touchFiles(folder: string): void {
  const now = new Date();
  for (const path of filesIn(folder)) utimesSync(path, now, now);
}

/** Drops the files of a folder from the page cache of this system; a host below may still have them. Linux only. @returns them */
export function dropFromCache(folder: string): string[] {
  const paths = filesIn(folder);
  // Only what was written to the disk can be dropped.
  const drop = 'sync "$@"; for file do dd if="$file" iflag=nocache count=0 status=none; done';
  execFileSync('sh', ['-c', drop, 'sh', ...paths]);
  return paths;
}
