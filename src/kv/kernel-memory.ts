import { FreeRanges } from './free-ranges.ts';
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
/** What grows, grows by at least this part: room is address space alone until something is written there. */
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
let lent = { address: 0, sizeBytes: 0 };

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

/**
 * Memory in which the kernels can write a result, not cleared. It is the same memory each time, so that its pages are
 * there already: the next call ends the loan, and the next `takeMemory` may leave the bytes without length.
 * @throws RangeError where the kernels can have no more memory
 */
export function lendMemory(sizeBytes: number): Uint8Array<ArrayBuffer> {
  if (sizeBytes > lent.sizeBytes) {
    if (lent.sizeBytes > 0) giveMemoryBack(lent.address, lent.sizeBytes);
    lent = { address: 0, sizeBytes: 0 };
    // Sets of memories differ by little: the next larger one shall find room.
    const roomBytes = Math.ceil(sizeBytes * (1 + LEAST_GROWTH));
    const address = takeMemory(roomBytes);
    if (address === undefined) throw new RangeError(`no memory for a K/V state of ${sizeBytes} bytes`);
    lent = { address, sizeBytes: roomBytes };
  }
  return new Uint8Array(memory.buffer, lent.address, sizeBytes);
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
