import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import type { GgufHeader } from '../gguf/gguf-header.ts';
import { kvObstacle } from '../gguf/model-description.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { keyRowBytes, type KvLayout, numberBytes, valueRowBytes } from '../sequence-state.ts';
import { PrivateFolder } from '../llama-state/private-folder.ts';
import { SessionCells } from '../llama-state/session-cells.ts';
import { type ParsedState, parseState } from '../llama-state/state-file.ts';
import type { StateForm } from '../llama-state/state-layout.ts';
import type { TokenId } from '../token-id.ts';
import { isRotatedAs } from './rotary-proof.ts';
import { Slot } from './slot.ts';
import { SlotCarrier } from './slot-carrier.ts';

const LENGTH = 33;

/** The files in which a server keeps slots, proven by one of them. */
export interface SlotStates {
  /** With the heads of the model's file; those of a model without one are one. */
  readonly layout: KvLayout;
  readonly form: StateForm;
  /** Sequences of the server's context. */
  readonly streams: number;
}

export interface ProvenStates {
  /** Null where slots cannot be saved and restored. */
  readonly states: SlotStates | null;
  readonly cells: EngineCapabilities['cells'];
  readonly missing: Readonly<Partial<Record<'promptCache' | 'checkpoints' | 'cells' | 'sharedPositions', string>>>;
}

const NO_FOLDER = 'the server moves K/V by files alone: name the folder of its --slot-save-path with --slots-folder';
const NO_FILE = 'neither the server nor its files say how keys are rotated: name the served GGUF with --model FILE';
const EVALUATED_AGAIN =
  'a restored slot of this build is evaluated again (ggml-org/llama.cpp #26676): take another build';

/**
 * Saves a slot, reads the file, and restores it: K/V can be moved where its tokens are found again afterwards, and changed
 * where the keys of the first layer are rotated as the model's file says.
 * @param served the file of the model, if it is named, and its header
 * @param tokens two ids
 */
export async function proveStates(
  connection: ServerConnection,
  served: { readonly header: GgufHeader | undefined; readonly alias: string },
  slotsFolder: string | undefined,
  [repeated, next]: readonly [TokenId, TokenId],
  options: CallOptions,
): Promise<ProvenStates> {
  if (slotsFolder === undefined) {
    return {
      states: null,
      cells: null,
      missing: withoutStates(NO_FOLDER),
    };
  }
  const slot = new Slot(connection, 0, served.alias);
  const ids = Array<TokenId>(LENGTH).fill(repeated);
  const cells = new SessionCells();
  cells.follow(ids);
  const carrier = new SlotCarrier(connection, slot, cells, slotsFolder);
  using folder = new PrivateFolder();
  const path = join(folder.path, 'proof.state');
  await slot.evaluate(ids, 0, options);
  await carrier.save(path);
  const state = parseState(readFileSync(path), path);
  await slot.erase(options);
  await carrier.load(path);
  if (!(await isFound(slot, [...ids, next], ids.length, options))) {
    return { states: null, cells: null, missing: withoutStates(EVALUATED_AGAIN) };
  }
  await slot.erase(options);
  const { form, streams } = state;
  const { cells: proven, why } = cellsOf(state, served.header);
  const layout = proven?.layout ?? layoutOf(state, 1);
  return {
    states: { layout, form, streams },
    cells: proven,
    missing: why === undefined ? {} : { cells: why, sharedPositions: why },
  };
}

function withoutStates(why: string): ProvenStates['missing'] {
  return { promptCache: why, checkpoints: why, cells: why, sharedPositions: why };
}

async function isFound(slot: Slot, ids: readonly TokenId[], held: number, options: CallOptions): Promise<boolean> {
  try {
    await slot.evaluate(ids, held, options);
    return true;
  } catch (error) {
    if (error instanceof BenchError && error.code === 'changed') return false;
    throw error;
  }
}

function layoutOf({ tensors }: ParsedState, heads: number): KvLayout {
  const { layers, keyType, valueType, keyRowBytes: rowBytes, valuesTransposed } = tensors;
  const headDimension = rowBytes / numberBytes(keyType) / heads;
  return { layers, heads, headDimension, keyType, valueType, valuesTransposed };
}

function cellsOf(
  state: ParsedState,
  header: GgufHeader | undefined,
): { readonly cells: EngineCapabilities['cells']; readonly why?: string } {
  if (header === undefined) return { cells: null, why: NO_FILE };
  const obstacle = kvObstacle(header);
  if (obstacle !== undefined) return { cells: null, why: obstacle };
  const { tensors } = state;
  const layout = layoutOf(state, header.kvHeads!);
  const { base, frequencyScale: scale, pairing, dimensions, frequencyFactors } = header.rope;
  const rotary = { base, scale, pairing, dimensions, factors: frequencyFactors ?? null };
  const fits =
    layout.layers === header.layers &&
    layout.headDimension === header.headDimension &&
    tensors.keyRowBytes === keyRowBytes(layout) &&
    tensors.valueRowBytes === valueRowBytes(layout);
  if (!fits) return { cells: null, why: 'the K/V of the server have another shape than those of --model FILE' };
  if (!isRotatedAs(state, layout, rotary)) {
    const numbers = `base ${base}, scale ${scale}, pairs ${pairing}`;
    return { cells: null, why: `the server rotates keys in another way than --model FILE says (${numbers})` };
  }
  return { cells: { layout, rotary, sharedPositions: true, gaps: true } };
}
