/** The extent of what is remembered. */
interface Bounds {
  /** Characters of a text that is remembered. */
  readonly longest: number;
  /** Texts; once there are so many, all are forgotten. */
  readonly most: number;
}

/** A function of a text that is not computed again for short texts of late; what it gives may not be changed. */
export function onceForTexts<Value>(
  compute: (text: string) => Value,
  { longest, most }: Bounds,
): (text: string) => Value {
  const known = new Map<string, { readonly value: Value }>();
  return (text) => {
    if (text.length > longest) return compute(text);
    const found = known.get(text);
    if (found !== undefined) return found.value;
    const value = compute(text);
    if (known.size === most) known.clear();
    known.set(text, { value });
    return value;
  };
}
