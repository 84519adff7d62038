// Declared here because neither Node's types nor TypeScript's `lib` do.
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
};

const PAGE_BYTES = 65_536;
/** The last page stays unused: the end of a range is an address too, and has 32 bits. */
const MAX_PAGES = 65_535;
/** Size of a cache line, so that no two ranges share one. */
const ALIGNMENT = 64;
/** Minimum growth relative to the current size. Unused growth costs only address space. */
const MIN_GROWTH = 1 / 4;

/** The memory that all kernels work in. Its first page holds their stack and, at `PARAMETERS_AT`, their parameters. */
export const arena = new WebAssembly.Memory({ initial: 1 });

/** The address of a kernel's parameters while it runs. */
export const PARAMETERS_AT = 32_768;

let view = new Uint8Array(arena.buffer);

/** All of the memory. Growing detaches older views: call it again after each `takeMemory`. */
export function wholeMemory(): Uint8Array<ArrayBuffer> {
  return view;
}

/** The free ranges of an address space: first fit, with neighbouring free ranges merged. */
export class FreeRanges {
  /** Sorted by address; no range touches the next. */
  readonly #ranges: { address: number; sizeBytes: number }[] = [];

  /** Takes a range and returns its address; undefined if no free range is large enough. */
  take(sizeBytes: number): number | undefined {
    const index = this.#ranges.findIndex((range) => range.sizeBytes >= sizeBytes);
    const range = this.#ranges[index];
    if (range === undefined) return undefined;
    const { address } = range;
    range.address += sizeBytes;
    range.sizeBytes -= sizeBytes;
    if (range.sizeBytes === 0) this.#ranges.splice(index, 1);
    return address;
  }

  give(address: number, sizeBytes: number): void {
    const next = this.#ranges.findIndex((range) => range.address > address);
    const index = next === -1 ? this.#ranges.length : next;
    this.#ranges.splice(index, 0, { address, sizeBytes });
    this.#mergeWithNext(index);
    this.#mergeWithNext(index - 1);
  }

  #mergeWithNext(index: number): void {
    const [range, next] = [this.#ranges[index], this.#ranges[index + 1]];
    if (range === undefined || range.address + range.sizeBytes !== next?.address) return;
    range.sizeBytes += next.sizeBytes;
    this.#ranges.splice(index + 1, 1);
  }
}

const free = new FreeRanges();
let takenBytes = PAGE_BYTES;

/** Takes uninitialised memory and returns its address; undefined if the arena is full, or less than `leavingBytes` would be left. */
export function takeMemory(sizeBytes: number, leavingBytes = 0): number | undefined {
  const needed = aligned(sizeBytes);
  if (takenBytes + needed + leavingBytes > MAX_PAGES * PAGE_BYTES) return undefined;
  const address = free.take(needed) ?? (grow(needed) ? free.take(needed) : undefined);
  if (address !== undefined) takenBytes += needed;
  return address;
}

export function giveMemoryBack(address: number, sizeBytes: number): void {
  free.give(address, aligned(sizeBytes));
  takenBytes -= aligned(sizeBytes);
}

/** Views of ranges of equal length; valid until more memory is taken. */
export function memoryAt(addresses: readonly number[], sizeBytes: number): Uint8Array[] {
  return addresses.map((start) => view.subarray(start, start + sizeBytes));
}

function aligned(sizeBytes: number): number {
  return Math.ceil(sizeBytes / ALIGNMENT) * ALIGNMENT;
}

function grow(sizeBytes: number): boolean {
  const pages = view.length / PAGE_BYTES;
  const needed = Math.ceil(sizeBytes / PAGE_BYTES);
  const wanted = Math.min(Math.max(needed, Math.ceil(pages * MIN_GROWTH)), MAX_PAGES - pages);
  if (wanted < needed) return false;
  try {
    arena.grow(wanted);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  view = new Uint8Array(arena.buffer);
  free.give(pages * PAGE_BYTES, wanted * PAGE_BYTES);
  return true;
}
