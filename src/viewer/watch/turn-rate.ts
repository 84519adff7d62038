/** Turns that were written longer ago tell nothing of the present speed. */
const windowMs = 5 * 60_000;

/**
 * Turns a second over the last minutes, from one item's to the last: the turns of an item are written together, when all arms
 * have answered it. Null where turns of one item alone were written in them.
 * @param written in the order of writing
 * @param now milliseconds since 1970
 */
export function turnRate(
  written: readonly { readonly itemId: string; readonly createdAt: number }[],
  now: number,
): number | null {
  const recent = written.filter(({ createdAt }) => createdAt > now - windowMs);
  const [first] = recent;
  if (first === undefined) return null;
  const began = recent.findLastIndex(({ itemId }) => itemId === first.itemId);
  const ms = recent.at(-1)!.createdAt - recent[began]!.createdAt;
  const turns = recent.length - 1 - began;
  return turns === 0 || ms <= 0 ? null : (turns * 1000) / ms;
}
