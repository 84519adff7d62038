import { expect, it } from 'vitest';
import { BenchError } from '../../base/bench-error.ts';
import { isAway, reasonOf } from './queue-connection.ts';

const withCode = (code: string, message = 'said the server'): Error => Object.assign(new Error(message), { code });

it.each([
  ['that refuses connections', withCode('ECONNREFUSED')],
  ['that starts or recovers', withCode('57P03')],
  ['that is ended', withCode('57P01')],
  ['with too many connections', withCode('53300')],
  ['that broke a connection', new Error('Connection terminated unexpectedly')],
  ['that a network hides', new Error('Query read timeout')],
  ['whose addresses all refuse', new AggregateError([withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')])],
  ['of which an error tells', new BenchError('database', 'db: it ends', '', withCode('57P01'))],
])('a server %s is asked again', (_, error) => {
  expect(isAway(error)).toBe(true);
});

it.each([
  ['a password that is wrong', withCode('28P01')],
  ['a database that is not there', withCode('3D000')],
  ['a statement that is wrong', withCode('42601')],
  ['an error of this program', new TypeError('undefined is not a function')],
  ['what is no error', 'no'],
])('%s is not', (_, error) => {
  expect(isAway(error)).toBe(false);
});

it('gives the reason in one line, of several addresses that of the first', () => {
  expect(reasonOf(new AggregateError([withCode('ECONNREFUSED', 'connect\n refused'), new Error('other')]))).toBe(
    'connect refused',
  );
});
