import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { turnSorts } from '../../store/turn-list-order.ts';
import { checkNames } from '../../store/records/results/check-result.ts';
import { funnelStages, wrongClasses } from '../../store/records/scores.ts';
import { cacheStates } from '../../store/records/turn-account.ts';
import type { ItemQuery, MatrixQuery } from '../links.ts';

/** Limit of a text to search for. */
const longestText = 200;

const ticked = z.literal('1', { error: 'expected 1' }).transform((): true => true);
const name = z.string().max(500, 'expected a name of at most 500 characters');
const positive = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'expected a whole number from 1')
  .transform(Number)
  .refine(Number.isSafeInteger, 'expected a whole number from 1');

const oneOf = <Name extends string>(names: readonly Name[]) =>
  z.enum(names, { error: `expected one of ${names.join(', ')}` }).exactOptional();

const filter = {
  arm: name.exactOptional(),
  answer: oneOf(['right', 'wrong']),
  wrong: name.exactOptional(),
  right: name.exactOptional(),
  disagreeing: ticked.exactOptional(),
  category: name.exactOptional(),
  wrongClass: oneOf(wrongClasses),
  stage: oneOf(funnelStages),
  cache: oneOf(cacheStates),
  check: oneOf(checkNames),
  truncated: ticked.exactOptional(),
  failed: ticked.exactOptional(),
  text: z.string().max(longestText, `expected at most ${longestText} characters`).exactOptional(),
};

const itemQuery = z.object({
  ...filter,
  sort: oneOf(Object.keys(turnSorts)),
  descending: ticked.exactOptional(),
  after: positive.exactOptional(),
  before: positive.exactOptional(),
  at: positive.exactOptional(),
});

const matrixQuery = z.object({ ...filter, page: positive.exactOptional() });

/** Reads a query; empty values, which forms send, are ignored. @throws BenchError `bad-option` that names the value */
function queryOf<Schema extends z.ZodType>(schema: Schema, values: URLSearchParams): z.output<Schema> {
  const given = Object.fromEntries([...values].filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = String(issue!.path[0]);
  const shown = JSON.stringify((given[key] ?? '').slice(0, 60));
  throw new BenchError('bad-option', `${key}=${shown}: ${issue!.message}`, 'remove the value from the address');
}

/** Reads the query of a list from an address. @throws BenchError `bad-option` that names the value */
export function itemQueryOf(values: URLSearchParams): ItemQuery {
  return queryOf(itemQuery, values);
}

/** Reads the query of a matrix from an address. @throws BenchError `bad-option` that names the value */
export function matrixQueryOf(values: URLSearchParams): MatrixQuery {
  return queryOf(matrixQuery, values);
}
