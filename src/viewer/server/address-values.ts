import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import type { TurnRef } from '../links.ts';

const name = z.string({ error: 'is missing' }).min(1, 'is empty').max(500, 'has more than 500 characters');
const number = z
  .string({ error: 'is missing' })
  .regex(/^\d{1,9}$/, 'is no whole number, 0 or more')
  .transform(Number);
const page = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'is no number of a page')
  .transform(Number);

const turn = z.object({ run: name, item: name, arm: name, repeat: number, turn: number });

/** Parameters of each address, without those of a list. */
export const addressValues = {
  runs: z.object({
    text: z.string().max(200, 'has more than 200 characters').exactOptional(),
    page: page.exactOptional(),
  }),
  run: z.object({ run: name }),
  table: z.object({ run: name, table: name }),
  figure: z.object({ run: name, figure: name }),
  item: z.object({ run: name, item: name }),
  turn: turn.extend({ against: name.exactOptional() }),
  pair: turn.extend({ other: name }),
  compare: z.object({
    a: name,
    b: name,
    armA: name.exactOptional(),
    armB: name.exactOptional(),
    page: page.exactOptional(),
    force: z.literal('1', { error: 'is not 1' }).exactOptional(),
  }),
  attribution: turn.extend({ token: name }),
} as const;

/**
 * Reads the parameters of an address or a form; empty values, which forms send, are ignored.
 * @throws BenchError `bad-option` that names the value
 */
export function valuesOf<Schema extends z.ZodType>(schema: Schema, values: URLSearchParams): z.output<Schema> {
  const given = Object.fromEntries([...values].filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = String(issue!.path[0]);
  const shown = given[key] === undefined ? key : `${key}=${JSON.stringify(given[key].slice(0, 60))}`;
  throw new BenchError('bad-option', `${shown} ${issue!.message}`, 'follow a link from the list of runs');
}

/** Selects the parameters that name a turn. */
export const turnRefOf = ({ run, item, arm, repeat, turn: number }: TurnRef): TurnRef => ({
  run,
  item,
  arm,
  repeat,
  turn: number,
});
