/** Levenshtein distance: the fewest insertions, deletions and substitutions of characters that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  const from = [...a];
  const to = [...b];
  let row = to.map((_, index) => index + 1);
  from.forEach((character, index) => {
    let diagonal = index;
    let left = index + 1;
    row = to.map((other, column) => {
      const above = row[column]!;
      left = Math.min(diagonal + (character === other ? 0 : 1), above + 1, left + 1);
      diagonal = above;
      return left;
    });
  });
  return row.at(-1) ?? from.length;
}
