import type { IndexParts, OrderName } from './index-parts.ts';
import type { PartReader } from './turn-index.ts';

type Data = Uint8Array<ArrayBuffer>;
type PartName = Exclude<keyof IndexParts, 'orders'>;

const floats = ({ buffer }: Data): Float64Array => new Float64Array(buffer);
const numbers = ({ buffer }: Data): Uint32Array => new Uint32Array(buffer);
const list = (data: Data): never[] => JSON.parse(Buffer.from(data).toString()) as never[];

/** How each part is read: numbers are in the machine's byte order (little-endian), lists are JSON. */
const readers: { readonly [Name in PartName]: (data: Data) => IndexParts[Name] } = {
  turnIds: floats,
  kinds: list,
  kindOf: numbers,
  itemIds: list,
  itemOf: numbers,
  userIds: list,
  userOfItem: numbers,
  successes: floats,
  goldLogProbabilities: floats,
  answerDigests: numbers,
  texts: (data) => data,
  textEnds: numbers,
  questionOf: numbers,
  goldOf: numbers,
  answerOf: numbers,
  orderNames: list,
};

export const partNames = Object.keys(readers) as PartName[];

/** The parts of an index as they are stored, by name. */
export function* writtenParts({ orders, ...parts }: IndexParts): Generator<readonly [name: string, data: Data]> {
  for (const [name, part] of [...Object.entries(parts), ...orders]) yield [name, dataOf(part)];
}

function dataOf(part: ArrayBufferView | readonly unknown[]): Data {
  if (!ArrayBuffer.isView(part)) return new Uint8Array(Buffer.from(JSON.stringify(part)));
  return new Uint8Array(part.buffer as ArrayBuffer, part.byteOffset, part.byteLength);
}

/**
 * The parts of a stored index, each read when it is first asked for and kept; orders, which are large and many, are not kept.
 * @param read gives the data of a part, which are the reader's alone
 */
export function storedParts(read: (name: string) => Data): PartReader {
  const known = new Map<PartName, unknown>();
  const part = <Name extends PartName>(name: Name): IndexParts[Name] => {
    if (!known.has(name)) known.set(name, readers[name](read(name)));
    return known.get(name) as IndexParts[Name];
  };
  const order = (name: OrderName): Uint32Array | undefined =>
    part('orderNames').includes(name) ? numbers(read(name)) : undefined;
  const parts = Object.fromEntries(partNames.map((name) => [name, { get: () => part(name) }]));
  return Object.defineProperties({ order }, parts) as PartReader;
}
