import { BenchError } from '../base/bench-error.ts';
import { judgeKeyVariable } from './api-key.ts';

const CHAT_ROUTE = '/chat/completions';

/** Returns the address of a Redis server without user and password. @throws BenchError `bad-option` for an invalid one */
export function redisAddress(address: string, option = '--hot'): string {
  return addressWithoutUser(option, address, ['redis:', 'rediss:']);
}

/** Returns the address of a PostgreSQL server without user and password. @throws BenchError `bad-option` for an invalid one */
export function postgresAddress(address: string, option = '--cold'): string {
  return addressWithoutUser(option, address, ['postgres:', 'postgresql:']);
}

function addressWithoutUser(option: string, address: string, protocols: readonly string[]): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !protocols.includes(url.protocol) || isCutInPassword(url)) {
    const expected = protocols.map((protocol) => `${protocol}//…`).join(' or ');
    const hint = `give ${expected}; in a password write % @ : / ? # as %25 %40 %3A %2F %3F %23`;
    // The message omits the value, which may contain a password.
    throw new BenchError('bad-option', `${option}: not a valid server URL`, hint);
  }
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

/** True if an unescaped character of the password ended the host, so that its rest is in path, query or fragment. */
function isCutInPassword({ hash, pathname, search }: URL): boolean {
  return hash !== '' || `${pathname}${search}`.includes('@');
}

/** The address with `sslmode=verify-full` instead of modes that the `pg` client treats the same, but warns about. */
export function postgresClientUrl(address: string): string {
  return address.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/**
 * The full address of the judge's chat route: `http://127.0.0.1:8080`, `…/v1` and `…/v1/chat/completions` are equivalent.
 * @throws BenchError `bad-option` for an address of another kind; the message never shows it, since it may hold a password
 */
export function judgeAddress(given: string): string {
  const refuse = (what: string, hint: string): never => {
    throw new BenchError('bad-option', `--judge: ${what}`, hint);
  };
  if (!URL.canParse(given)) return refuse('not a valid URL', 'give one such as http://127.0.0.1:8080');
  const url = new URL(given);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refuse(`${url.protocol} is not supported`, 'give an address that begins with http:// or https://');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const hint = `drop user, password, query and fragment; a key is read from ${judgeKeyVariable}`;
    return refuse('holds more than host and path', hint);
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith(CHAT_ROUTE)) url.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}${CHAT_ROUTE}`;
  return url.href;
}
