import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { BenchError } from '../../base/bench-error.ts';
import { hubAccess } from './hub-reference.ts';
import { describeRemoteFile } from './remote-file.ts';

describe('access to the hub', () => {
  test.each([
    ['a token with a line break', { HF_TOKEN: 'se\ncret' }, 'HF_TOKEN is not a token'],
    ['a token with odd characters', { HF_TOKEN: 'secrét' }, 'HF_TOKEN is not a token'],
    ['a password in the address', { HF_ENDPOINT: 'https://ann:secret@hub.example' }, 'HF_ENDPOINT names a user'],
  ])('%s is refused and not repeated', (_, environment, message) => {
    let thrown: unknown;
    try {
      hubAccess(environment);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(BenchError);
    const said = `${(thrown as BenchError).message} ${(thrown as BenchError).hint}`;
    expect(said).toContain(message);
    expect(said).not.toMatch(/se\n?cr|ann/);
  });

  test('spaces around a token are not part of it', () => {
    expect(hubAccess({ HF_TOKEN: ' secret\n' }).token).toBe('secret');
  });
});

describe('a redirection', () => {
  const servers: Server[] = [];
  const serve = async (headers: Readonly<Record<string, string>>, status = 200): Promise<string> => {
    const server = createServer((_, response) => response.writeHead(status, headers).end());
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  test('to another server does not let that server define the checksum', async () => {
    const other = await serve({ etag: `"${'a'.repeat(64)}"`, 'content-length': '5' });
    const endpoint = await serve({ location: `${other}/file` }, 302);
    await expect(describeRemoteFile(`${endpoint}/file`, hubAccess({ HF_ENDPOINT: endpoint }))).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('the file could not be verified') as string,
    });
  });

  test.each(['http://[bad', 'file:///etc/passwd'])('to %s is an error', async (location) => {
    const endpoint = await serve({ location }, 302);
    await expect(describeRemoteFile(`${endpoint}/file`, hubAccess({ HF_ENDPOINT: endpoint }))).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('redirected to an invalid web address') as string,
    });
  });
});
