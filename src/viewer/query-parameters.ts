/** The query parameters that each address of the viewer takes. */
import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { checkNames } from '../store/records/run-results.ts';
import { cacheStates, funnelStages, wrongClasses } from '../store/records/turn-record.ts';

const name = z.string({ error: 'is missing' }).min(1, 'is empty').max(500, 'has more than 500 characters');
const text = z.string().max(200, 'has more than 200 characters').exactOptional();
const number = z
  .string({ error: 'is missing' })
  .regex(/^\d{1,9}$/, 'is not a whole number, 0 or more')
  .transform(Number);
const positive = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'is not a whole number, 1 or more')
  .transform(Number)
  .exactOptional();
const ticked = z
  .literal('1', { error: 'is not 1' })
  .transform((): true => true)
  .exactOptional();
const oneOf = <Name extends string>(names: readonly Name[]) =>
  z.enum(names, { error: `is not one of ${names.join(', ')}` }).exactOptional();

const run = z.object({ run: name });
const turn = run.extend({ item: name, arm: name, repeat: number, turn: number });

const filter = run.extend({
  arm: name.exactOptional(),
  answer: oneOf(['right', 'wrong']),
  wrong: name.exactOptional(),
  right: name.exactOptional(),
  disagreeing: ticked,
  category: name.exactOptional(),
  wrongClass: oneOf(wrongClasses),
  stage: oneOf(funnelStages),
  cache: oneOf(cacheStates),
  check: oneOf(checkNames),
  truncated: ticked,
  failed: ticked,
  text,
});

export const queryParameters = {
  runs: z.object({ text, page: positive }),
  run,
  matrix: filter.extend({ page: positive }),
  table: run.extend({ table: name }),
  figure: run.extend({ figure: name }),
  item: run.extend({ item: name }),
  turn: turn.extend({ against: name.exactOptional() }),
  compare: z.object({
    a: name,
    b: name,
    armA: name.exactOptional(),
    armB: name.exactOptional(),
    page: positive,
    force: ticked,
  }),
} as const;

/** Reads the query parameters of an address; ignores empty and unknown ones. @throws BenchError `bad-option` */
export function parseParameters<Schema extends z.ZodType>(schema: Schema, values: URLSearchParams): z.output<Schema> {
  const given = Object.fromEntries([...values].filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = String(issue!.path[0]);
  const shown = given[key] === undefined ? key : `${key}=${JSON.stringify(given[key].slice(0, 60))}`;
  throw new BenchError('bad-option', `${shown} ${issue!.message}`, 'follow a link from the list of runs');
}

/** The runs to compare, and their arms; an arm that is not named is chosen among those that both runs have. */
export type ComparisonQuery = z.output<typeof queryParameters.compare>;
