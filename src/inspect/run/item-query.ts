import { z } from 'zod';
import { BenchError } from '../../config/bench-error.ts';
import { turnSorts } from '../../db/turn-list-order.ts';
import type { ItemQuery } from '../links.ts';

/** Limit of a text to search for. */
const longestText = 200;

const ticked = z.literal('1', { error: 'expected 1' }).transform((): true => true);
const name = z.string().max(500, 'expected a name of at most 500 characters');
const positive = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'expected a whole number from 1')
  .transform(Number)
  .refine(Number.isSafeInteger, 'expected a whole number from 1');

const itemQuery = z.object({
  arm: name.exactOptional(),
  answer: z.enum(['right', 'wrong'], { error: 'expected right or wrong' }).exactOptional(),
  disagreeing: ticked.exactOptional(),
  category: name.exactOptional(),
  truncated: ticked.exactOptional(),
  failed: ticked.exactOptional(),
  text: z.string().max(longestText, `expected at most ${longestText} characters`).exactOptional(),
  sort: z
    .enum(Object.keys(turnSorts), { error: `expected one of ${Object.keys(turnSorts).join(', ')}` })
    .exactOptional(),
  descending: ticked.exactOptional(),
  after: positive.exactOptional(),
  before: positive.exactOptional(),
  at: positive.exactOptional(),
});

/**
 * Reads the query of a list from an address; empty values, which forms send, are ignored.
 * @throws BenchError `bad-option` that names the value
 */
export function itemQueryOf(values: URLSearchParams): ItemQuery {
  const given = Object.fromEntries([...values].filter(([, value]) => value !== ''));
  const parsed = itemQuery.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = String(issue!.path[0]);
  const shown = JSON.stringify((given[key] ?? '').slice(0, 60));
  throw new BenchError('bad-option', `${key}=${shown}: ${issue!.message}`, 'remove the value from the address');
}
