import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { BenchError, innermostReason } from '../../base/bench-error.ts';
import { isAway, QueueConnection } from './queue-connection.ts';

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
])('a server %s counts as away', (_, error) => {
  expect(isAway(error)).toBe(true);
});

it.each([
  ['a password that is wrong', withCode('28P01')],
  ['a database that is not there', withCode('3D000')],
  ['a statement that is wrong', withCode('42601')],
  ['an error of this program', new TypeError('undefined is not a function')],
  ['what is no error', 'no'],
])('%s does not', (_, error) => {
  expect(isAway(error)).toBe(false);
});

it('gives the reason in one line, for several addresses that of the first', () => {
  expect(innermostReason(new AggregateError([withCode('ECONNREFUSED', 'connect\n refused'), new Error('other')]))).toBe(
    'connect refused',
  );
});

it.each([
  'postgres://bench:p@ss/w:rd#1@127.0.0.1:5432/x',
  'postgres://bench:p@ss/word@127.0.0.1/x',
  'postgres://bench:p/w@127.0.0.1/x',
])('%s, whose password is not escaped, is refused without showing it', (url) => {
  expect(() => new QueueConnection(url)).toThrow(
    expect.objectContaining({ code: 'bad-option', message: '--queue: not a valid server URL' }),
  );
});

it('an unknown host, and TLS with a server without it, are named by the address', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // The client keeps its half of the connection.
    socket.once('data', () => socket.end('N', () => socket.destroy()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const tls = `127.0.0.1:${port}/x`;
  for (const [url, message] of [
    ['postgres://me:secret@nohost.invalid/x', /^postgres:\/\/nohost\.invalid\/x: getaddrinfo E/],
    [`postgres://me:secret@${tls}?sslmode=require`, `postgres://${tls}: The server does not support SSL connections`],
  ] as const) {
    await using connection = new QueueConnection(url);
    await expect(connection.rows('SELECT 1')).rejects.toMatchObject({ code: 'database' });
    await expect(connection.rows('SELECT 1')).rejects.toThrow(message);
    await expect(connection.transaction(() => Promise.resolve())).rejects.toThrow(message);
  }
  server.close();
});
