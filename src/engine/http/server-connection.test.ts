import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { errorLike } from '../../../test/fixtures/error-like.ts';
import { forEver, HostileServer } from '../../../test/fixtures/hostile-server.ts';
import { ServerConnection } from './server-connection.ts';

const patience = { waitMs: 100, silenceMs: 5000, settleMs: 100, answerMs: 3000, answerBytes: 2 ** 19 };
const PIECE = 'data: {"choices": []}\n\n'.repeat(1000);

let server: HostileServer;
let connection: ServerConnection;
beforeAll(async () => {
  server = await HostileServer.start();
  connection = new ServerConnection({ url: server.url, program: 'the server' }, patience);
});
afterAll(() => server[Symbol.asyncDispose]());

async function readStream(): Promise<void> {
  for await (const _ of connection.stream('/x', {}, z.object({}))) continue;
}

/** Sends an endless answer: as fast as the client reads, or slowly. */
function flood(status: number, pauseMs?: number): void {
  server.misdeed = ({ response, socket }) => {
    response.writeHead(status);
    forEver(socket, () => response.write(pauseMs === undefined ? PIECE : ' '), pauseMs);
  };
}

const tooMuch = errorLike('protocol', 'the server sends too much: the answer is longer than 524288 bytes');
const endless = errorLike('unreachable', 'the server does not answer: the answer did not end in 3 s');

test.each([
  ['in one piece', () => connection.text('/x')],
  ['of events', readStream],
])('an answer %s without end is bounded in bytes and in time', async (_, read) => {
  flood(200);
  await expect(read()).rejects.toMatchObject(tooMuch);
  flood(200, 50);
  await expect(read()).rejects.toMatchObject(endless);
});

test('an error message without end is bounded too', async () => {
  flood(500);
  await expect(connection.text('/x')).rejects.toMatchObject(errorLike('protocol', 'answers /x with 500'));
  flood(500, 50);
  await expect(connection.text('/x')).rejects.toMatchObject(errorLike('protocol', 'answers /x with 500'));
});
