import { z } from 'zod';

/** The schema of an object whose fields are readonly. */
export const object = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).readonly();

/** The schema of a readonly array. */
export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** Version of all records: of turns, of runs and of results. From 1 on, reading upgrades older ones. */
export const schemaVersion = 1;
