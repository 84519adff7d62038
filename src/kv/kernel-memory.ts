import { FreeRanges, type Range } from './free-ranges.ts';
import { assemble, type WasmFunction } from './wasm-assembler.ts';

// Neither Node's types nor the library of the language declare it.
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const PAGE_BYTES = 65_536;
/** The last page stays unused: the end of a range is an address too, and has 32 bits. */
const MOST_PAGES = 65_535;
/** A line of the cache: no two ranges share one. */
const ALIGNMENT = 64;
/** The least part by which memory grows: room is address space alone until something is written there. */
const LEAST_GROWTH = 1 / 4;

const memory = new WebAssembly.Memory({ initial: 1 });

/** Makes functions that work in the memory of the kernels; by name. */
export function instantiate(functions: readonly WasmFunction[]): unknown {
  return new WebAssembly.Instance(new WebAssembly.Module(assemble(functions)), { env: { memory } }).exports;
}

/** The first page belongs to nobody: what a kernel needs besides K/V stands there while it runs. */
export const PARAMETERS_AT = 0;

const free = new FreeRanges();
let view = new Uint8Array(memory.buffer);

const NONE: Range = { address: 0, sizeBytes: 0 };
/** The memory of the last result that was given back. */
let spare = NONE;

/** All of the memory. Growing leaves older views without length: ask for it anew after each `takeMemory`. */
export function wholeMemory(): Uint8Array<ArrayBuffer> {
  return view;
}

/** The address of memory that belongs to the caller, not cleared; undefined where the kernels can have no more. */
export function takeMemory(sizeBytes: number): number | undefined {
  const needed = aligned(sizeBytes);
  const found = free.take(needed);
  if (found !== undefined) return found;
  return grow(needed) ? free.take(needed) : undefined;
}

/** Gives memory back that was taken. */
export function giveMemoryBack(address: number, sizeBytes: number): void {
  free.give(address, aligned(sizeBytes));
}

/** Views of the ranges of so many bytes each that begin at the addresses; they last until more memory is taken. */
export function memoryAt(addresses: readonly number[], sizeBytes: number): Uint8Array[] {
  return addresses.map((start) => view.subarray(start, start + sizeBytes));
}

/** Memory in which the kernels write a result, until disposal. */
export interface MemoryLease extends Disposable {
  readonly address: number;
}

/**
 * Leases memory for a result, not cleared. The largest that was given back is leased first: its pages are there already.
 * @throws RangeError where the kernels can have no more memory
 */
export function leaseMemory(sizeBytes: number): MemoryLease {
  if (spare.sizeBytes < sizeBytes) replaceSpare(sizeBytes);
  const range = spare;
  spare = NONE;
  let isLeased = true;
  return {
    address: range.address,
    [Symbol.dispose]: () => {
      if (isLeased) keepLarger(range);
      isLeased = false;
    },
  };
}

function replaceSpare(sizeBytes: number): void {
  if (spare.sizeBytes > 0) giveMemoryBack(spare.address, spare.sizeBytes);
  spare = NONE;
  // Sets of memories differ by little: the next larger one shall find room.
  const roomBytes = Math.ceil(sizeBytes * (1 + LEAST_GROWTH));
  const address = takeMemory(roomBytes);
  if (address === undefined) throw new RangeError(`no memory for a K/V state of ${sizeBytes} bytes`);
  spare = { address, sizeBytes: roomBytes };
}

function keepLarger(range: Range): void {
  const [larger, smaller] = range.sizeBytes > spare.sizeBytes ? [range, spare] : [spare, range];
  spare = larger;
  if (smaller.sizeBytes > 0) giveMemoryBack(smaller.address, smaller.sizeBytes);
}

function aligned(sizeBytes: number): number {
  return Math.ceil(sizeBytes / ALIGNMENT) * ALIGNMENT;
}

function grow(sizeBytes: number): boolean {
  const pages = view.length / PAGE_BYTES;
  const needed = Math.ceil(sizeBytes / PAGE_BYTES);
  const wanted = Math.min(Math.max(needed, Math.ceil(pages * LEAST_GROWTH)), MOST_PAGES - pages);
  if (wanted < needed) return false;
  try {
    memory.grow(wanted);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  view = new Uint8Array(memory.buffer);
  free.give(pages * PAGE_BYTES, wanted * PAGE_BYTES);
  return true;
}
