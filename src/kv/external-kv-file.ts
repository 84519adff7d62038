import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { encodeFloat16, LARGEST_FLOAT16, readNumbers } from '../base/float16.ts';
import { requireCells } from '../engine/engine-capabilities.ts';
import type { Engine } from '../engine/engine.ts';
import { layerRotary, type NumberType, ownedState, type Rotary, type SequenceState } from '../engine/sequence-state.ts';
import type { TokenIds } from '../engine/token-id.ts';
import { pairFrequencies } from './rotate-keys.ts';
import { readSafetensors, type Safetensors, type Tensor, writeSafetensors } from './safetensors.ts';

const FORMAT = 'dki-bench-kv/1';
/** Hex digits of a hash in a file's name. */
const NAME_DIGITS = 16;
const BASE_TOLERANCE = 1e-6;

/** The model that a file must be for, and how its KV is imported. */
export type KvFileEngine = Pick<Engine, 'info' | 'capabilities'>;

const metadataShape = z.object({
  format: z.literal(FORMAT),
  model_sha256: z.string(),
  /** `none`: keys are not rotated yet. */
  rope: z.enum(['applied', 'none']),
  rope_base: z.coerce.number().positive(),
  /** Which numbers of a key are rotated together: j and j + n/2 (`half`), or 2j and 2j + 1 (`interleaved`). */
  rope_pairing: z.enum(['half', 'interleaved']),
});

type Metadata = z.output<typeof metadataShape>;

/** KV from a file, as the engine imports it. */
export interface ExternalKv {
  readonly state: SequenceState;
  readonly sha256: string;
}

/** Name of the file with the KV of a user, or of one prefix of this user: header and memory lines of a prompt. */
export function externalKvName(userId: string, prefix?: TokenIds): string {
  const digits = (data: string | Int32Array): string =>
    createHash('sha256').update(data).digest('hex').slice(0, NAME_DIGITS);
  const user = digits(userId);
  return `${prefix === undefined ? user : `${user}-${digits(Int32Array.from(prefix))}`}.safetensors`;
}

/**
 * Reads cells that were made elsewhere. `docs/methods/external-kv.md` describes the file.
 * @returns undefined if there is no such file
 * @throws BenchError `bad-data` for a damaged file, other shapes, numbers that are not finite, or unusable positions; `bad-model` for
 * a file of another model; `unsupported` without access to cells
 */
export async function readExternalKv(path: string, engine: KvFileEngine): Promise<ExternalKv | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new BenchError('disk', `${path}: cannot be read`, 'check the path and its permissions', cause);
  }
  try {
    return { state: parseExternalKv(bytes, path, engine), sha256: createHash('sha256').update(bytes).digest('hex') };
  } catch (cause) {
    if (cause instanceof BenchError) throw cause;
    const message = `${path}: unusable KV file: ${(cause as Error).message}`;
    throw new BenchError('bad-data', message, 'write it as docs/methods/external-kv.md says', cause);
  }
}

/** @throws Error saying what is wrong with the file @throws BenchError `bad-model`, `unsupported` */
function parseExternalKv(bytes: Uint8Array, path: string, engine: KvFileEngine): SequenceState {
  const { layout, rotary, gaps, sharedPositions } = requireCells(engine);
  const file = readSafetensors(bytes);
  const metadata = readMetadata(file);
  requireSameModel(metadata, path, engine.info, rotary);
  const positions = integers(file, 'positions');
  const tokenIds = integers(file, 'token_ids');
  const cells = positions.length;
  if (cells === 0 || tokenIds.length !== cells) {
    throw new Error(`it has ${cells} positions and ${tokenIds.length} token ids`);
  }
  requirePositions(positions, { gaps, sharedPositions });
  const vocabulary = engine.info.model.vocabularySize ?? Infinity;
  const foreign = tokenIds.find((id) => id < -1 || id >= vocabulary);
  if (foreign !== undefined) throw new Error(`token id ${foreign} is not one of the model, nor −1 for unknown`);
  const tensor = (name: string): Float32Array => numbersByHead(file, name, [layout.heads, cells, layout.headDimension]);
  const layers = [...Array(layout.layers).keys()];
  const toEngine = (byHead: Float32Array, isTransposed: boolean): Float32Array => {
    const { heads, headDimension } = layout;
    // To [head][dimension][cell], or else to [cell][head][dimension].
    const steps = isTransposed
      ? ([headDimension * cells, 1, cells] as const)
      : ([headDimension, heads * headDimension, 1] as const);
    return permuted(byHead, [heads, cells, headDimension], steps);
  };
  if (file.tensors.has(`keys.${layout.layers}`)) throw new Error(`the model has only ${layout.layers} layers`);
  return ownedState({
    layout,
    positions,
    tokenIds,
    keys: layers.map((layer) => {
      const keys = placedKeys(tensor(`keys.${layer}`), { positions, ...layout }, layerRotary(rotary, layer), metadata);
      return encode(toEngine(keys, false), layout.keyType, `keys.${layer}`);
    }),
    values: layers.map((layer) => {
      const values = toEngine(tensor(`values.${layer}`), layout.valuesTransposed);
      return encode(values, layout.valueType, `values.${layer}`);
    }),
  });
}

function readMetadata({ metadata }: Safetensors): Metadata {
  const found = metadataShape.safeParse(metadata);
  if (found.success) return found.data;
  const [{ path, message }] = found.error.issues as [z.core.$ZodIssue];
  throw new Error(`metadata ${path.join('.')}: ${message}`);
}

function requireSameModel(metadata: Metadata, path: string, info: KvFileEngine['info'], rotary: Rotary): void {
  const { model_sha256: sha256, rope_base: base } = metadata;
  const own = info.modelSha256;
  if (sha256 !== own) {
    const message = `${path}: KV of another model: sha-256 ${sha256.slice(0, 12)}…, and ${info.model.name} has ${own?.slice(0, 12) ?? 'none'}…`;
    const hint = 'choose the model that the file was made with, or make a file for this one';
    throw new BenchError('bad-model', message, hint);
  }
  if (Math.abs(base / rotary.base - 1) > BASE_TOLERANCE) {
    const message = `${path}: keys for RoPE base ${base}, and ${info.model.name} has ${rotary.base}`;
    throw new BenchError('bad-model', message, 'make the file with the RoPE of the model, without context extension');
  }
}

function requirePositions(
  positions: Int32Array,
  { gaps, sharedPositions }: Readonly<Record<'gaps' | 'sharedPositions', boolean>>,
): void {
  const sorted = positions.toSorted();
  const pairs = [...sorted].slice(1).map((position, index) => position - sorted[index]!);
  if (sorted[0]! < 0) throw new Error('it has a position below 0');
  if (!sharedPositions && pairs.includes(0)) throw new Error('the engine does not accept cells that share a position');
  if (!gaps && pairs.some((distance) => distance > 1)) {
    throw new Error('the engine does not accept gaps between positions');
  }
}

/** A tensor of 32-bit integers; 64-bit ones must fit. */
function integers({ tensors }: Safetensors, name: string): Int32Array {
  const found = tensors.get(name);
  if (found?.shape.length !== 1) throw new Error(`it has no list ${name}`);
  const { buffer } = new Uint8Array(found.bytes);
  if (found.type === 'I32') return new Int32Array(buffer);
  if (found.type === 'I64') {
    const large = new BigInt64Array(buffer).find((value) => BigInt.asIntN(32, value) !== value);
    if (large !== undefined) throw new Error(`${name} has ${large}, which does not fit into 32 bits`);
    return Int32Array.from(new BigInt64Array(buffer), Number);
  }
  throw new Error(`${name} has type ${found.type}; expected I32 or I64`);
}

/** Numbers as [head][cell][dimension]. */
function numbersByHead({ tensors }: Safetensors, name: string, shape: readonly number[]): Float32Array {
  const found = tensors.get(name);
  if (found === undefined) throw new Error(`it has no tensor ${name}`);
  if (found.shape.join() !== shape.join()) {
    throw new Error(
      `${name} has shape [${found.shape.join(', ')}]; expected [${shape.join(', ')}]: heads, cells, dimension`,
    );
  }
  const numbers = decode(found, name);
  if (!numbers.every(Number.isFinite)) throw new Error(`${name} has numbers that are not finite`);
  return numbers;
}

function decode({ type, bytes }: Tensor, name: string): Float32Array {
  if (type === 'F16' || type === 'F32') return readNumbers(bytes, type);
  if (type !== 'BF16') throw new Error(`${name} has type ${type}; expected F16, BF16 or F32`);
  // The upper half of a 32-bit float.
  const words = Uint32Array.from(new Uint16Array(new Uint8Array(bytes).buffer), (half) => half << 16);
  return new Float32Array(words.buffer);
}

/**
 * Puts the numbers of each key into the engine's order, and rotates keys to their positions if they are not rotated yet.
 * @param keys [head][cell][dimension]
 */
function placedKeys(
  keys: Float32Array,
  { positions, headDimension }: { readonly positions: Int32Array; readonly headDimension: number },
  rotary: Rotary,
  { rope, rope_pairing: pairing }: Metadata,
): Float32Array {
  const frequencies = pairFrequencies(rotary);
  const pairs = Array.from(frequencies, (frequency, pair) => ({
    frequency,
    from: pairIndices(pairing, pair, rotary.dimensions),
    to: pairIndices(pairingName(rotary), pair, rotary.dimensions),
  }));
  const placed = keys.slice();
  for (let start = 0; start < keys.length; start += headDimension) {
    const position = positions[(start / headDimension) % positions.length]!;
    for (const { frequency, from, to } of pairs) {
      const [first, second] = [keys[start + from[0]]!, keys[start + from[1]]!];
      if (rope === 'applied') {
        placed[start + to[0]] = first;
        placed[start + to[1]] = second;
      } else {
        const [cosine, sine] = [Math.cos(position * frequency), Math.sin(position * frequency)];
        placed[start + to[0]] = first * cosine - second * sine;
        placed[start + to[1]] = second * cosine + first * sine;
      }
    }
  }
  return placed;
}

function pairingName({ pairing }: Rotary): Metadata['rope_pairing'] {
  return pairing === 'neox' ? 'half' : 'interleaved';
}

function pairIndices(pairing: Metadata['rope_pairing'], pair: number, dimensions: number): readonly [number, number] {
  return pairing === 'half' ? [pair, pair + dimensions / 2] : [2 * pair, 2 * pair + 1];
}

type Three = readonly [number, number, number];

/** @param steps how far apart neighbours along each of the three dimensions are afterwards */
function permuted(numbers: Float32Array, [a, b, c]: Three, [stepA, stepB, stepC]: Three): Float32Array {
  const out = new Float32Array(numbers.length);
  let from = 0;
  for (let i = 0; i < a; i++) {
    for (let j = 0; j < b; j++) {
      for (let k = 0; k < c; k++) out[i * stepA + j * stepB + k * stepC] = numbers[from++]!;
    }
  }
  return out;
}

function encode(numbers: Float32Array, type: NumberType, name: string): Uint8Array {
  if (type === 'F32') return new Uint8Array(numbers.buffer);
  if (numbers.some((number) => Math.abs(number) > LARGEST_FLOAT16)) {
    throw new Error(`${name} has numbers that are too large for the engine's 16 bits`);
  }
  return new Uint8Array(Uint16Array.from(numbers, encodeFloat16).buffer);
}

/** The file of some cells of a session, which `readExternalKv` reads back bit by bit. */
export function writeExternalKv(state: SequenceState, engine: KvFileEngine): Uint8Array {
  const { layout, positions, tokenIds } = state;
  const { heads, headDimension, keyType, valueType, valuesTransposed } = layout;
  const { rotary } = requireCells(engine);
  const cells = positions.length;
  const byHead = (bytes: Uint8Array, type: NumberType, isTransposed: boolean): Tensor => {
    const numbers = readNumbers(bytes, type);
    const headStep = cells * headDimension;
    const placed = isTransposed
      ? permuted(numbers, [heads, headDimension, cells], [headStep, 1, headDimension])
      : permuted(numbers, [cells, heads, headDimension], [headDimension, headStep, 1]);
    return { type, shape: [heads, cells, headDimension], bytes: encode(placed, type, 'KV') };
  };
  const list = (numbers: Int32Array): Tensor => {
    const { buffer } = numbers.slice();
    return { type: 'I32', shape: [cells], bytes: new Uint8Array(buffer) };
  };
  return writeSafetensors({
    metadata: {
      format: FORMAT,
      model_sha256: engine.info.modelSha256 ?? '',
      model: engine.info.model.name,
      rope: 'applied',
      rope_base: String(rotary.base),
      rope_pairing: pairingName(rotary),
      made_by: 'dki-bench kv export',
    },
    tensors: new Map([
      ['positions', list(positions)],
      ['token_ids', list(tokenIds)],
      ...state.keys.map((keys, layer) => [`keys.${layer}`, byHead(keys, keyType, false)] as const),
      ...state.values.map((values, layer) => [`values.${layer}`, byHead(values, valueType, valuesTransposed)] as const),
    ]),
  });
}
