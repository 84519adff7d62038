import { expect, test } from 'vitest';
import { serverAddress } from './server-connection.ts';

const address = (engineUrl: string | undefined, allowRemote?: boolean): string =>
  serverAddress('openai', engineUrl, allowRemote);

test.each(['http://127.0.0.1:8080', 'http://localhost:1/v1', 'https://[::1]:8443', 'http://127.1.2.3'])(
  '%s is of this machine',
  (url) => {
    expect(address(url)).toBe(url);
  },
);

test.each(['http://10.0.0.7:8000', 'https://models.example/v1', 'http://127.0.0.1.example:80', 'http://0.0.0.0:8000'])(
  '%s is of another machine, and refused unless that is allowed',
  (url) => {
    for (const allowed of [undefined, false]) {
      expect(() => address(url, allowed)).toThrow(
        expect.objectContaining({
          code: 'bad-option',
          message: `--engine-url ${url}: not an address of this machine`,
          hint: expect.stringContaining('--allow-remote') as string,
        }),
      );
    }
    expect(address(url, true)).toBe(url);
  },
);

test.each(['127.0.0.1:8080', 'ftp://127.0.0.1', 'server', ''])('%j is not a server URL', (url) => {
  expect(() => address(url, true)).toThrow('--engine-url: not a server URL');
});

test('an address with a secret is refused and not shown', () => {
  for (const url of ['http://me:hunter2@127.0.0.1', 'http://127.0.0.1/?key=hunter2', 'http://127.0.0.1/#hunter2']) {
    expect(() => address(url, true)).toThrow('--engine-url: has more than host and path');
    expect(() => address(url, true)).not.toThrow(/hunter2/);
  }
});

test('a missing address is reported with the engine name', () => {
  expect(() => address(undefined)).toThrow('--engine openai: needs a server URL');
});
