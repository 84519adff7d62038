import type { Engine } from '../../../engine/engine.ts';
import { kvBytes, type NumberType } from '../../../engine/sequence-state.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import { cutCells } from '../../../kv/cut-cells.ts';
import { joinBlocks } from '../../../kv/join-blocks.ts';
import type { StorageMeasurement } from '../../../store/records/suite-measurements.ts';
import { requireCells } from '../../../engine/engine-capabilities.ts';
import { memorySegment } from '../../../systems/prompt/memory-lines.ts';
import { quantiles } from '../../analysis/statistics/estimate-mean.ts';
import type { MeasureContext } from '../suite.ts';
import { timed } from './measure-length.ts';

const KV_TYPES: readonly NumberType[] = ['F16', 'F32'];
/** Lengths of a prefix, as shares of the window. */
const SHARES = [1 / 16, 1 / 4, 1 / 2];
const ROUNDS = 100;

/** Concatenates memory lines of the data to `tokens` tokens. @returns their ids, and the bytes of their text */
async function memoryTokens({ datasets }: MeasureContext, engine: Engine, tokens: number) {
  const memories = datasets.flatMap(({ users }) => users).flatMap((user) => user.memories);
  const ids: TokenId[] = [];
  let text = '';
  for (let index = 0; ids.length < tokens; index++) {
    const line = memorySegment('', memories[index % memories.length]!.content, index + 1, 'index').text;
    const [lineIds = []] = await engine.tokenize([{ text: line, as: 'text', first: index === 0 }]);
    ids.push(...lineIds);
    text += line;
  }
  const bytes = Buffer.byteLength(text);
  return { ids: ids.slice(0, tokens), textBytes: (bytes * tokens) / ids.length };
}

async function measurePrefix(
  context: MeasureContext,
  engine: Engine,
  kvType: NumberType,
  tokens: number,
): Promise<StorageMeasurement[]> {
  const { ids, textBytes } = await memoryTokens(context, engine, tokens);
  const { rotary } = requireCells(engine);
  const steps = { evaluate: 0, save: 0, load: 0, cut: 0, join: 0 };
  const rounds: (typeof steps)[] = [];
  let diskBytes = 0;
  let memoryBytes = 0;
  await using session = await engine.openSession('storage');
  for (let round = 0; round <= ROUNDS; round++) {
    context.signal.throwIfAborted();
    const ms = { ...steps };
    await session.clear();
    await timed(ms, 'evaluate', () => session.evaluate(ids, { signal: context.signal }));
    const checkpoint = await timed(ms, 'save', () => session.checkpoint());
    diskBytes = checkpoint.bytes;
    await session.clear();
    await timed(ms, 'load', () => session.restore(checkpoint));
    await engine.deleteCheckpoint(checkpoint);
    const start = performance.now();
    using cells = await session.exportCells();
    const rest = cutCells(cells, 2, tokens);
    ms.cut = performance.now() - start;
    const header = cutCells(cells, 0, 2);
    memoryBytes = kvBytes(header) + kvBytes(rest);
    await timed(ms, 'join', async () => {
      using joined = joinBlocks(header, [{ block: rest, position: 2, alpha: 1 }], { rotary });
      await session.importCells(joined);
    });
    rounds.push(ms);
  }
  // The first round warms up.
  const times = (step: keyof typeof steps) => quantiles(rounds.slice(1).map((ms) => ms[step]));
  const common = { kvType, tokens, evaluateMs: times('evaluate').p50 };
  return [
    { ...common, kvType: 'UTF-8', tier: 'text', bytesPerToken: textBytes / tokens, saveMs: null, loadMs: null },
    { ...common, tier: 'memory', bytesPerToken: memoryBytes / tokens, saveMs: times('cut'), loadMs: times('join') },
    { ...common, tier: 'disk', bytesPerToken: diskBytes / tokens, saveMs: times('save'), loadMs: times('load') },
  ];
}

/**
 * Bytes of KV per memory token and times of saving and loading, by KV type and tier. In `memory`, a block is cut out of exported cells, and
 * joined and imported; on `disk`, a checkpoint is written and restored.
 */
export async function measureStorage(context: MeasureContext): Promise<readonly StorageMeasurement[]> {
  const { model, contextTokens, threads } = context.config;
  const measured: StorageMeasurement[] = [];
  for (const kvType of KV_TYPES) {
    // No copies of checkpoints in memory, which would be read in place of the disk.
    const settings = { contextTokens, threads, checkpointMemoryBytes: 0 };
    await using engine = await context.engines.open({ model, kvType, ...settings });
    for (const share of SHARES) {
      const tokens = Math.floor(share * engine.info.contextTokens);
      const rows = await measurePrefix(context, engine, kvType, tokens);
      // The text is the same, whatever the KV type.
      measured.push(...rows.filter(({ tier }) => tier !== 'text' || kvType === KV_TYPES[0]));
    }
  }
  return measured;
}
