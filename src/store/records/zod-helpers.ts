import { z } from 'zod';

/** The schema of an object whose fields are readonly. */
export const object = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).readonly();

/** Fields of a shape that are numbers. */
export const numbers = <Name extends string>(...names: readonly Name[]): Record<Name, z.ZodNumber> =>
  Object.fromEntries(names.map((name) => [name, z.number()])) as Record<Name, z.ZodNumber>;

/** Fields of a shape that are strings. */
export const texts = <Name extends string>(...names: readonly Name[]): Record<Name, z.ZodString> =>
  Object.fromEntries(names.map((name) => [name, z.string()])) as Record<Name, z.ZodString>;

export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
