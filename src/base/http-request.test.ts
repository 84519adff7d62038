import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { AnswerTooLong, failureReason, IdleTimeout, readText, request, retryAfterMs } from './http-request.ts';

async function served(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const dispose = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address, [Symbol.dispose]: dispose };
}

test('reads an answer that trickles for longer than the idle time', async () => {
  using server = await served((_, response) => {
    response.writeHead(200, { 'retry-after': '2' });
    let count = 0;
    const timer = setInterval(() => {
      response.write('ab');
      if (++count === 6) response.end(() => clearInterval(timer));
    }, 300);
  });
  using timeout = new IdleTimeout(1200);
  const response = await request(server.address, {}, timeout);
  expect(retryAfterMs(response)).toBe(2000);
  expect(await readText(response, timeout)).toBe('ab'.repeat(6));
});

test('ends a request to a server that sends nothing', async () => {
  using server = await served((_, response) => void response.writeHead(200).write('a'));
  using timeout = new IdleTimeout(100);
  const response = await request(server.address, {}, timeout);
  await expect(readText(response, timeout)).rejects.toThrow(/abort/i);
  expect(timeout.isReached).toBe(true);
});

test('distinguishes cancellation from the time-out, and names a refused connection by its code', async () => {
  const cancel = AbortSignal.abort(new Error('enough'));
  using timeout = new IdleTimeout(1000, cancel);
  await expect(request('http://127.0.0.1:1/', {}, timeout)).rejects.toThrow('enough');
  expect(timeout.isReached).toBe(false);
  using other = new IdleTimeout(1000);
  const error: unknown = await request('http://127.0.0.1:9/', {}, other).catch((cause: unknown) => cause);
  expect(failureReason(error)).toMatch(/ECONNREFUSED|bad port/);
});

test('refuses an answer that is longer than allowed', async () => {
  using server = await served((_, response) => response.end('x'.repeat(1000)));
  using timeout = new IdleTimeout(1000);
  await expect(readText(await request(server.address, {}, timeout), timeout, 999)).rejects.toThrow(AnswerTooLong);
});
