import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cutBlock, kvBytes } from '../../kv/cut-block.ts';
import { joinBlocks } from '../../kv/join-blocks.ts';
import { parseSequenceState } from '../../kv/sequence-state.ts';
import { StateStore } from '../../kv/state-store.ts';
import { LanguageModel } from '../../llm/language-model.ts';
import { modelPathOf } from '../../llm/random-model/random-model.ts';
import type { NumberType } from '../../llm/state-format.ts';
import { memorySegment } from '../../systems/prompt/segments.ts';
import { ScratchState } from '../../systems/scratch-state.ts';
import type { StorageMeasurement } from '../results.ts';
import { quantiles, type Quantiles } from '../statistics/quantile.ts';
import type { MeasureRoom } from '../suites/suite.ts';

const KV_TYPES: readonly NumberType[] = ['F16', 'F32'];
/** Lengths of a prefix, as shares of the window. */
const SHARES = [1 / 16, 1 / 4, 1 / 2];
const ROUNDS = 100;

interface Round {
  readonly evaluateMs: number;
  readonly saveMs: number;
  readonly loadMs: number;
  readonly cutMs: number;
  readonly joinMs: number;
}

async function elapsed(act: () => unknown): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function spread(rounds: readonly Round[], part: keyof Round): Quantiles {
  return quantiles(rounds.map((round) => round[part]));
}

/** Memory lines of the data, one after the other, until there are so many tokens; the text of these. */
function prefixOf(room: MeasureRoom, model: LanguageModel, tokens: number): { ids: number[]; textBytes: number } {
  const contents = room.users.flatMap(({ memories }) => memories.map(({ content }) => content));
  const ids: number[] = [];
  let text = '';
  for (let index = 0; ids.length < tokens; index++) {
    const line = memorySegment('', contents[index % contents.length]!, index + 1, 'index').text;
    ids.push(...model.tokenizeText(line, { first: index === 0 }));
    text += line;
  }
  const bytes = Buffer.byteLength(text);
  return { ids: ids.slice(0, tokens), textBytes: (bytes * tokens) / ids.length };
}

/** Evaluates, saves and loads one prefix, and takes it apart and together as a block does. */
async function measurePrefix(room: MeasureRoom, model: LanguageModel, tokens: number): Promise<StorageMeasurement[]> {
  const { ids, textBytes } = prefixOf(room, model, tokens);
  const folder = join(room.folder, 'storage');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'state');
  const scratch = new ScratchState(new StateStore(folder, Infinity));
  const rounds: Round[] = [];
  let diskBytes = 0;
  let memoryBytes = 0;
  await using sequence = model.openSequence();
  try {
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      room.signal.throwIfAborted();
      await sequence.clear();
      const evaluateMs = await elapsed(() => sequence.evaluate(ids));
      const saveMs = await elapsed(() => sequence.saveState(path));
      diskBytes = statSync(path).size;
      const { cells } = parseSequenceState(readFileSync(path));
      await sequence.clear();
      const loadMs = await elapsed(() => sequence.loadState(path));
      const [header, rest] = [cutBlock(cells, 0, 2), cutBlock(cells, 2, tokens)];
      memoryBytes = kvBytes(header) + kvBytes(rest);
      const cutMs = await elapsed(() => cutBlock(parseSequenceState(readFileSync(path)).cells, 2, tokens));
      const { info } = model;
      const joinMs = await elapsed(async () => {
        scratch.write(
          joinBlocks(header, [{ block: rest, position: 2, alpha: 1 }], {
            keys: info,
            sequences: info.contextOptions.sequences,
          }),
        );
        await scratch.load(sequence);
      });
      if (round > 0) rounds.push({ evaluateMs, saveMs, loadMs, cutMs, joinMs });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const evaluateMs = spread(rounds, 'evaluateMs').p50;
  const { kvType } = model.info.contextOptions;
  const of = (
    tier: StorageMeasurement['tier'],
    bytes: number,
  ): Pick<StorageMeasurement, 'kvType' | 'tier' | 'tokens'> & {
    readonly bytesPerToken: number;
  } => ({ kvType: tier === 'text' ? 'UTF-8' : kvType, tier, tokens, bytesPerToken: bytes / tokens });
  return [
    { ...of('text', textBytes), saveMs: null, loadMs: null, evaluateMs },
    { ...of('memory', memoryBytes), saveMs: spread(rounds, 'cutMs'), loadMs: spread(rounds, 'joinMs'), evaluateMs },
    { ...of('disk', diskBytes), saveMs: spread(rounds, 'saveMs'), loadMs: spread(rounds, 'loadMs'), evaluateMs },
  ];
}

/**
 * Bytes of K/V a memory token by K/V type and tier, beside the bytes of the text, and what saving and loading takes beside
 * evaluating. `memory` is a block: saving cuts it out of a state, loading joins it and hands it over by a file.
 */
export async function measureStorage(room: MeasureRoom): Promise<readonly StorageMeasurement[]> {
  const modelPath = await modelPathOf(room.config.model);
  const measured: StorageMeasurement[] = [];
  for (const kvType of KV_TYPES) {
    const { contextTokens, threads } = room.config;
    await using model = await LanguageModel.load({
      modelPath,
      kvType,
      ...(contextTokens === undefined ? {} : { contextTokens }),
      ...(threads === undefined ? {} : { threads }),
    });
    for (const share of SHARES) {
      const tokens = Math.floor(share * model.info.contextTokens);
      const rows = await measurePrefix(room, model, tokens);
      // The text is the same, whatever the type of its K/V.
      measured.push(...rows.filter(({ tier }) => tier !== 'text' || kvType === KV_TYPES[0]));
    }
  }
  return measured;
}
