/** Memoizes a function of an object by the object's identity, for as long as the object lives. */
export function memoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const found = known.get(key) ?? { value: compute(key) };
    known.set(key, found);
    return found.value;
  };
}

/**
 * Memoizes a function of a text, for short texts.
 * @param maxCharacters longer texts are not memoized
 * @param maxTexts size of the cache; a new text beyond it clears the cache
 */
export function memoizeTexts<Value>(
  compute: (text: string) => Value,
  { maxCharacters, maxTexts }: { readonly maxCharacters: number; readonly maxTexts: number },
): (text: string) => Value {
  const known = new Map<string, { readonly value: Value }>();
  return (text) => {
    if (text.length > maxCharacters) return compute(text);
    const found = known.get(text) ?? { value: compute(text) };
    if (known.size === maxTexts && !known.has(text)) known.clear();
    known.set(text, found);
    return found.value;
  };
}
