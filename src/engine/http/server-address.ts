import { BenchError } from '../../base/bench-error.ts';
import { isLocalUrl } from '../../base/http-request.ts';

export interface AddressOptions {
  readonly engine: string;
  readonly engineUrl: string | undefined;
  readonly allowRemote: boolean | undefined;
}

/** Checks a server's address. @throws BenchError `bad-option` where it is missing, malformed, or remote without `allowRemote` */
export function serverAddress({ engine, engineUrl, allowRemote = false }: AddressOptions): string {
  const example = 'http://127.0.0.1:8080';
  if (engineUrl === undefined) {
    throw new BenchError('bad-option', `--engine ${engine}: no server is named`, `add --engine-url ${example}`);
  }
  const url = URL.canParse(engineUrl) ? new URL(engineUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new BenchError('bad-option', '--engine-url: no address', `write ${example}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    // The address is not shown: it may hold a password.
    const hint = 'drop user, password, query and fragment: a key is read from the environment';
    throw new BenchError('bad-option', '--engine-url: holds more than host and path', hint);
  }
  if (allowRemote || isLocalUrl(url)) return engineUrl;
  throw new BenchError(
    'bad-option',
    `--engine-url ${engineUrl}: not an address of this machine`,
    'prompts hold what users said: reach the server through a tunnel, such as ssh -L 8080:localhost:8080, or add --allow-remote',
  );
}
