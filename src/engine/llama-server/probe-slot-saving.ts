import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { readNumbers } from '../../base/float16.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import type { GgufHeader } from '../gguf/gguf-header.ts';
import { kvObstacle } from '../gguf/missing-capabilities.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { TemporaryFolder } from '../../base/temporary-folder.ts';
import { type ParsedState, parseState, type StateForm } from '../llama-state/state-file.ts';
import { keyRowBytes, type KvLayout, numberBytes, type Rotary, valueRowBytes } from '../sequence-state.ts';
import { SessionCells } from '../session-cells.ts';
import type { TokenId, TokenIds } from '../token-id.ts';
import { Slot } from './slot.ts';
import { SlotKvFiles } from './slot-kv-files.ts';

const LENGTH = 33;
/** Of a rotated number, relative to the largest key: twice the rounding of half precision. */
const TOLERANCE = 2 ** -9;

/** The files that a server saves slots to, proven by one of them. */
export interface SlotFileFormat {
  /** With the heads of the model's file; without a file, one head. */
  readonly layout: KvLayout;
  readonly form: StateForm;
  readonly streams: number;
}

interface ProbedSlotSaving {
  /** Null where slots cannot be saved and restored. */
  readonly states: SlotFileFormat | null;
  readonly cells: EngineCapabilities['cells'];
  readonly missing: Readonly<Partial<Record<'promptCache' | 'checkpoints' | 'cells' | 'sharedPositions', string>>>;
}

const NO_FOLDER = 'the server moves KV by files alone: name the folder of its --slot-save-path with --slots-folder';
const NO_FILE = 'neither the server nor its files say how keys are rotated: name the served GGUF with --model FILE';
const EVALUATED_AGAIN =
  'a restored slot of this build is evaluated again (ggml-org/llama.cpp #26676): take another build';

/**
 * Saves a slot, reads the file, and restores it. KV can be moved where the server then finds its tokens, and changed where
 * the keys of the first layer are rotated as the model's file says.
 */
export async function probeSlotSaving(
  { connection, slotsFolder }: { readonly connection: ServerConnection; readonly slotsFolder: string | undefined },
  served: { readonly header: GgufHeader | undefined; readonly alias: string },
  [repeated, next]: readonly [TokenId, TokenId],
  options: CallOptions,
): Promise<ProbedSlotSaving> {
  if (slotsFolder === undefined) return withoutStates(NO_FOLDER);
  const slot = new Slot(connection, 0, served.alias);
  const ids = Array<TokenId>(LENGTH).fill(repeated);
  const cells = new SessionCells();
  cells.follow(ids);
  const carrier = new SlotKvFiles({ connection, slot, cells, folder: slotsFolder });
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'proof.state');
  await slot.evaluate(ids, 0, options);
  await carrier.save(path);
  const state = parseState(readFileSync(path), path);
  await slot.erase(options);
  await carrier.load(path);
  if (!(await isFound(slot, [...ids, next], ids.length, options))) return withoutStates(EVALUATED_AGAIN);
  await slot.erase(options);
  const { form, streams } = state;
  const { cells: proven, why } = proveCells(state, served.header);
  return {
    states: { layout: proven?.layout ?? fileLayout(state, 1), form, streams },
    cells: proven,
    missing: why === undefined ? {} : { cells: why, sharedPositions: why },
  };
}

function withoutStates(why: string): ProbedSlotSaving {
  const missing = { promptCache: why, checkpoints: why, cells: why, sharedPositions: why };
  return { states: null, cells: null, missing };
}

async function isFound(slot: Slot, ids: TokenIds, held: number, options: CallOptions): Promise<boolean> {
  try {
    await slot.evaluate(ids, held, options);
    return true;
  } catch (error) {
    if (error instanceof BenchError && error.code === 'changed') return false;
    throw error;
  }
}

function fileLayout({ tensors }: ParsedState, heads: number): KvLayout {
  const { layers, keyType, valueType, keyRowBytes: rowBytes, valuesTransposed } = tensors;
  const headDimension = rowBytes / numberBytes(keyType) / heads;
  return { layers, heads, headDimension, keyType, valueType, valuesTransposed };
}

function proveCells(
  state: ParsedState,
  header: GgufHeader | undefined,
): { readonly cells: EngineCapabilities['cells']; readonly why?: string } {
  const obstacle = header === undefined ? NO_FILE : kvObstacle(header);
  if (header === undefined || obstacle !== undefined) return { cells: null, why: obstacle! };
  const { tensors } = state;
  const layout = fileLayout(state, header.kvHeads!);
  const { rotary } = header;
  const fits =
    layout.layers === header.layers &&
    layout.headDimension === header.headDimension &&
    tensors.keyRowBytes === keyRowBytes(layout) &&
    tensors.valueRowBytes === valueRowBytes(layout);
  if (!fits) return { cells: null, why: 'the KV of the server has another shape than that of --model FILE' };
  if (hasRotary(state, layout, rotary)) return { cells: { layout, rotary, sharedPositions: true, gaps: true } };
  const numbers = `base ${rotary.base}, scale ${rotary.scale}, pairs ${rotary.pairing}`;
  return { cells: null, why: `the server rotates keys in another way than --model FILE says (${numbers})` };
}

/** True where the keys of the first layer, which depend on token and position only, are those of one token at each position. */
function hasRotary({ positions, keys }: ParsedState, layout: KvLayout, rotary: Rotary): boolean {
  const width = layout.heads * layout.headDimension;
  const numbers = readNumbers(keys[0]!, layout.keyType);
  const rowAt = (position: number): Float64Array => {
    const start = positions.indexOf(position) * width;
    return Float64Array.from(numbers.subarray(start, start + width));
  };
  const first = rowAt(0);
  const largest = first.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  let largestMove = 0;
  for (let position = 1; position < positions.length; position++) {
    const expected = rotated(first, position, layout.headDimension, rotary);
    const found = rowAt(position);
    if (found.some((number, at) => Math.abs(number - expected[at]!) > TOLERANCE * largest)) return false;
    largestMove = Math.max(largestMove, ...found.map((number, at) => Math.abs(number - first[at]!)));
  }
  // Keys that do not move at all prove nothing.
  return largestMove > TOLERANCE * largest;
}

function rotated(row: Float64Array, positions: number, headDimension: number, rotary: Rotary): Float64Array {
  const { base, scale, pairing, dimensions, factors } = rotary;
  const out = row.slice();
  for (let head = 0; head < row.length; head += headDimension) {
    for (let pair = 0; pair < dimensions / 2; pair++) {
      const angle = (positions * scale * base ** ((-2 * pair) / dimensions)) / (factors?.[pair] ?? 1);
      const [x, y] =
        pairing === 'norm' ? [head + 2 * pair, head + 2 * pair + 1] : [head + pair, head + pair + dimensions / 2];
      out[x] = row[x]! * Math.cos(angle) - row[y]! * Math.sin(angle);
      out[y] = row[x]! * Math.sin(angle) + row[y]! * Math.cos(angle);
    }
  }
  return out;
}
