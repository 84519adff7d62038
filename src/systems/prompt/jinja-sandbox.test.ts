import { expect, it } from 'vitest';
import { sandboxTemplate } from './jinja-sandbox.ts';

const loop = (inner: string, times: number): string => `{% for i in range(${times}) %}${inner}{% endfor %}`;
/** Doubles a variable, time after time. */
const doubled = (first: string, times: number): string =>
  `{% set all = namespace(x=${first}) %}${loop('{% set all.x = all.x + all.x %}', times)}`;
/** Lists of lists that share their elements: of no size, until they are written. */
const shared = `{% set all = namespace(x=['']) %}${loop(`{% set all.x = [${Array<string>(9).fill('all.x').join(', ')}] %}`, 30)}`;

it.each<[string, string, string | RegExp]>([
  ['nested ranges of 1e9', loop(loop('x', 1e9), 1e9), 'it makes a list of more than 100000 elements'],
  ['a range of tiny steps', '{% for i in range(0, 1, 0.000000001) %}x{% endfor %}', 'it makes a list of more than'],
  ['nested loops within the range', loop(loop('{{ i }}', 9999), 9999), 'it takes more than 20000 steps'],
  ['a text that doubles', doubled("'a'", 64), 'it makes a text of more than 1048576 characters'],
  ['a list that doubles', doubled('[1]', 64), 'it makes a list of more than 100000 elements'],
  ['a macro that calls itself', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}', /stack|not a function/],
  ['shared lists, written out', `${shared}{{ all.x | tojson }}`, 'it takes more than 0.5 s'],
  ['a source without end', 'x'.repeat(2 ** 18 + 1), 'it has more than 262144 characters'],
  ['comments without end', '{#'.repeat(2 ** 17), 'Missing end of comment tag'],
  ['brackets without end', `{{ ${'('.repeat(2 ** 17)}`, /it takes more than 0.5 s|stack/],
])('a template that would not end, or fill the memory, is ended: %s', (_, source, why) => {
  // Of those that end by time, soon; the others long before it, on any machine.
  const limits = { mostMs: String(why).includes('0.5 s') ? 500 : 600_000, mostSteps: 20_000 };
  expect(() => sandboxTemplate(source, limits)({})).toThrow(why);
});
