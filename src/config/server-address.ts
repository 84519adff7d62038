import { BenchError } from '../base/bench-error.ts';

/** Returns the address of a Redis server without user and password. @throws BenchError `bad-option` for an invalid one */
export function redisAddress(address: string, option = '--hot'): string {
  return shownAddress(option, address, ['redis:', 'rediss:']);
}

/** Returns the address of a PostgreSQL server without user and password. @throws BenchError `bad-option` for an invalid one */
export function postgresAddress(address: string, option = '--cold'): string {
  return shownAddress(option, address, ['postgres:', 'postgresql:']);
}

function shownAddress(option: string, address: string, protocols: readonly string[]): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !protocols.includes(url.protocol)) {
    const expected = protocols.map((protocol) => `${protocol}//…`).join(' or ');
    // Without the value, which may contain a password.
    throw new BenchError('bad-option', `${option}: not a valid server URL`, `give ${expected}`);
  }
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}
