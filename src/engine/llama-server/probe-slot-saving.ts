import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { readNumbers } from '../../base/float16.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import type { ModelHeader } from '../gguf/model-header.ts';
import { cellsObstacle } from '../gguf/missing-capabilities.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { TemporaryFolder } from '../../base/temporary-folder.ts';
import { type ParsedState, parseState } from '../llama-state/state-file.ts';
import {
  type KvLayout,
  type Rotary,
  SessionCells,
  keyRowBytes,
  numberBytes,
  valueRowBytes,
} from '../sequence-state.ts';
import type { TokenId, TokenIds } from '../token-id.ts';
import { Slot } from './slot.ts';
import { SlotKvFiles } from './slot-kv-files.ts';

const TEST_TOKENS = 33;
/** Allowed error of a rotated number, relative to the largest key: twice the rounding of half precision. */
const TOLERANCE = 2 ** -9;

const NO_FOLDER = 'the server moves KV only through files: name the folder of its --slot-save-path with --slots-folder';
const NO_FILE = 'the server does not show how keys are rotated: name its GGUF file with --model FILE';
const EVALUATED_AGAIN = 'this build evaluates a restored slot again (ggml-org/llama.cpp #26676): use another build';

/**
 * Saves a slot, reads the file, and restores it. Checkpoints work if the server then reuses the restored tokens. Moving and changing
 * cells works if the keys of the first layer are rotated as the model's file says.
 * @param tokens the first is repeated to fill the slot, the second follows after the restore
 */
export async function probeSlotSaving(
  { connection, slotsFolder }: { readonly connection: ServerConnection; readonly slotsFolder: string | undefined },
  served: { readonly header: ModelHeader | undefined; readonly alias: string },
  [repeated, next]: readonly [TokenId, TokenId],
  options: CallOptions,
) {
  if (slotsFolder === undefined) return withoutStates(NO_FOLDER);
  const slot = new Slot(connection, 0, served.alias);
  const ids = Array<TokenId>(TEST_TOKENS).fill(repeated);
  const cells = new SessionCells();
  cells.follow(ids);
  const carrier = new SlotKvFiles({ connection, slot, cells, folder: slotsFolder });
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'proof.state');
  await slot.evaluate(ids, 0, options);
  try {
    await carrier.save(path);
  } catch (error) {
    if (error instanceof BenchError && error.code === 'bad-state')
      return withoutStates(`${error.message}: ${error.hint}`);
    throw error;
  }
  const state = parseState(readFileSync(path), path);
  await slot.erase(options);
  await carrier.load(path);
  if (!(await isReused(slot, [...ids, next], ids.length, options))) return withoutStates(EVALUATED_AGAIN);
  await slot.erase(options);
  const { form, streams } = state;
  const { cells: proven, why } = proveCells(state, served.header);
  return {
    // The format of the slot files. Heads as in the model's file; one head if there is no file.
    states: { layout: proven?.layout ?? fileLayout(state, 1), form, streams },
    cells: proven,
    missing: why === undefined ? {} : { cells: why, sharedPositions: why },
  };
}

function withoutStates(why: string) {
  const missing = { promptCache: why, checkpoints: why, cells: why, sharedPositions: why };
  return { states: null, cells: null, missing };
}

async function isReused(slot: Slot, ids: TokenIds, held: number, options: CallOptions): Promise<boolean> {
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
  header: ModelHeader | undefined,
): { readonly cells: EngineCapabilities['cells']; readonly why?: string } {
  const obstacle = header === undefined ? NO_FILE : cellsObstacle(header, Infinity);
  if (header === undefined || obstacle !== undefined) return { cells: null, why: obstacle! };
  const { tensors } = state;
  const layout = fileLayout(state, header.kvHeads!);
  const { rotary } = header;
  const fits =
    layout.layers === header.layers &&
    layout.headDimension === header.headDimension &&
    tensors.keyRowBytes === keyRowBytes(layout) &&
    tensors.valueRowBytes === valueRowBytes(layout);
  if (!fits) return { cells: null, why: "the server's KV has another shape than that of --model FILE" };
  if (isRotatedBy(state, layout, rotary)) return { cells: { layout, rotary, sharedPositions: true, gaps: true } };
  const numbers = `base ${rotary.base}, scale ${rotary.scale}, pairs ${rotary.pairing}`;
  return { cells: null, why: `the server does not rotate keys as --model FILE says (${numbers})` };
}

/** True if the first layer's keys, all of the same token, differ between positions exactly by their rotation. */
function isRotatedBy({ positions, keys }: ParsedState, layout: KvLayout, rotary: Rotary): boolean {
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
  // Keys that barely change with the position prove nothing.
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
