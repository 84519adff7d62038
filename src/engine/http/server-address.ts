import { BenchError } from '../../base/bench-error.ts';
import { isLocalUrl } from '../../base/http-request.ts';

export interface AddressOptions {
  readonly engine: string;
  readonly engineUrl: string | undefined;
  readonly allowRemote: boolean | undefined;
}

/** Checks a server's address. @throws BenchError `bad-option` if it is missing, malformed, or remote without `allowRemote` */
export function serverAddress({ engine, engineUrl, allowRemote = false }: AddressOptions): string {
  const example = 'http://127.0.0.1:8080';
  if (engineUrl === undefined) {
    throw new BenchError('bad-option', `--engine ${engine}: needs a server URL`, `add --engine-url ${example}`);
  }
  const url = URL.canParse(engineUrl) ? new URL(engineUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new BenchError('bad-option', '--engine-url: not a server URL', `write it like ${example}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    // The message must not show the address, which may contain a password.
    const hint = 'drop user, password, query and fragment; an API key is read from the environment';
    throw new BenchError('bad-option', '--engine-url: has more than host and path', hint);
  }
  if (allowRemote || isLocalUrl(url)) return engineUrl;
  throw new BenchError(
    'bad-option',
    `--engine-url ${engineUrl}: not an address of this machine`,
    'prompts contain what users said: use a tunnel, such as ssh -L 8080:localhost:8080, or add --allow-remote',
  );
}
