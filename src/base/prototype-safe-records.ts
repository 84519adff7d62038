import { z } from 'zod';

/**
 * The schema of an object whose keys are data, such as ids or categories: `constructor` and `__proto__` are keys like any
 * other. Read its values with `ownValue`.
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

/** The value of a key, ignoring inherited ones. */
export function ownValue<Value>(record: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
