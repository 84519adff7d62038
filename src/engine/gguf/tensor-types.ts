/** Name, numbers per block, and bytes per block of each tensor type, by ggml's type id. */
const BLOCKS: Readonly<Record<number, readonly [name: string, numbers: number, bytes: number]>> = {
  0: ['F32', 1, 4],
  1: ['F16', 1, 2],
  2: ['Q4_0', 32, 18],
  3: ['Q4_1', 32, 20],
  6: ['Q5_0', 32, 22],
  7: ['Q5_1', 32, 24],
  8: ['Q8_0', 32, 34],
  10: ['Q2_K', 256, 84],
  11: ['Q3_K', 256, 110],
  12: ['Q4_K', 256, 144],
  13: ['Q5_K', 256, 176],
  14: ['Q6_K', 256, 210],
  16: ['IQ2_XXS', 256, 66],
  17: ['IQ2_XS', 256, 74],
  18: ['IQ3_XXS', 256, 98],
  19: ['IQ1_S', 256, 50],
  20: ['IQ4_NL', 32, 18],
  21: ['IQ3_S', 256, 110],
  22: ['IQ2_S', 256, 82],
  23: ['IQ4_XS', 256, 136],
  29: ['IQ1_M', 256, 56],
  30: ['BF16', 1, 2],
  34: ['TQ1_0', 256, 54],
  35: ['TQ2_0', 256, 66],
  39: ['MXFP4', 32, 17],
};

/** ggml's id of a type of `BLOCKS`. */
export function tensorTypeId(name: string): number {
  return Number(Object.entries(BLOCKS).find(([, [known]]) => known === name)![0]);
}

/**
 * Bytes that so many numbers of a type take; undefined for an unknown type, or if they do not fill whole blocks.
 * @see ggml-common.h of llama.cpp, where each block is a struct
 */
export function bytesOfNumbers(type: number, numbers: number): number | undefined {
  const [, together, bytes] = BLOCKS[type] ?? ['', 0, 0];
  const blocks = numbers / together;
  return Number.isInteger(blocks) ? blocks * bytes : undefined;
}

export function countNumbers(dimensions: readonly number[]): number {
  return dimensions.reduce((product, size) => product * size, 1);
}

/** Weight types by share, largest first. Unknown types are named by number and counted as 8 bits. */
export function weightShares(tensors: readonly { readonly type: number; readonly dimensions: readonly number[] }[]) {
  const bytes = new Map<string, number>();
  for (const { type, dimensions } of tensors) {
    const numbers = countNumbers(dimensions);
    const name = BLOCKS[type]?.[0] ?? `type ${type}`;
    bytes.set(name, (bytes.get(name) ?? 0) + (bytesOfNumbers(type, numbers) ?? numbers));
  }
  const total = [...bytes.values()].reduce((sum, size) => sum + size, 0);
  const shares = Array.from(bytes, ([type, size]) => ({ type, share: size / total }));
  return shares.sort((a, b) => b.share - a.share);
}
