/** A function of a list that is computed once for each list, as long as that list is held; a list may not change afterwards. */
export function onceAList<Element, Value>(
  compute: (list: readonly Element[]) => Value,
): (list: readonly Element[]) => Value {
  const known = new WeakMap<readonly Element[], { readonly value: Value }>();
  return (list) => {
    const found = known.get(list) ?? { value: compute(list) };
    known.set(list, found);
    return found.value;
  };
}
