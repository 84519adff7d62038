/** Stands in front of a call: makes it, or refuses it. */
export type Watch = <R>(call: () => R) => R;

/**
 * An object whose named methods are called through a watch; everything else is its own.
 * @param replaced members in place of its own
 */
export function watched<T extends object>(
  target: T,
  methods: readonly (keyof T)[],
  watch: Watch,
  replaced: Partial<T> = {},
): T {
  return new Proxy(target, {
    get: (_, name) => {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name) as unknown;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (!methods.includes(name as keyof T)) return member.bind(target) as unknown;
      return (...given: readonly unknown[]): unknown => watch(() => member.apply(target, given) as unknown);
    },
  });
}
