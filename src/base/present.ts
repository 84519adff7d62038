/** The values of a list without those left out by a condition: `present([a, count > 0 && b])`. */
export function present<Value>(values: readonly (Value | false | undefined)[]): Value[] {
  return values.filter((value): value is Value => value !== false && value !== undefined);
}
