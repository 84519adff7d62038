import { z } from 'zod';

/**
 * The schema of an object whose keys are data, such as ids and categories. Every own key counts, `constructor` and `__proto__`
 * like any other; read its values with `ownValue`.
 */
export const safeRecord = <Value extends z.ZodType>(value: Value) =>
  z
    .custom<Readonly<Record<string, z.output<Value>>>>(
      (given) => typeof given === 'object' && given !== null && !Array.isArray(given),
      'expected an object',
    )
    .superRefine((given, context) => {
      for (const [key, one] of Object.entries(given)) {
        for (const issue of value.safeParse(one).error?.issues ?? []) {
          context.addIssue({ ...issue, path: [key, ...issue.path] });
        }
      }
    });

/** The value of an object's own key; nothing that it inherits. */
export function ownValue<Value>(record: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
