import type { ColdIndexName } from '../../../config/bench-config.ts';
import { BenchError } from '../../../config/bench-error.ts';

/** Where the tiers lie, as the options say it. */
export interface TieredSettings {
  /** `redis://…`; in this process where not given. */
  readonly hot?: string | undefined;
  /** `postgres://…`; a SQLite file where not given. */
  readonly cold?: string | undefined;
  readonly coldIndex: ColdIndexName;
  /** Serves the events of retrieval there. */
  readonly eventsPort?: number | undefined;
}

/**
 * Where the tiers lie as a run's record may say it, without users and passwords.
 * @throws BenchError `bad-option` for an address that is none
 */
export function placesOfTiers({ hot, cold }: TieredSettings): Readonly<Record<'hot' | 'cold', string>> {
  return {
    hot: hot === undefined ? 'in-process' : redisAddress(hot),
    cold: cold === undefined ? 'sqlite' : postgresAddress(cold),
  };
}

/** The address of a Redis as it may be shown. @throws BenchError `bad-option` where it is none */
export function redisAddress(address: string, option = '--hot'): string {
  return shownAddress(option, address, ['redis:', 'rediss:']);
}

/** The address of a PostgreSQL as it may be shown. @throws BenchError `bad-option` where it is none */
export function postgresAddress(address: string, option = '--cold'): string {
  return shownAddress(option, address, ['postgres:', 'postgresql:']);
}

function shownAddress(option: string, address: string, protocols: readonly string[]): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !protocols.includes(url.protocol)) {
    const expected = protocols.map((protocol) => `${protocol}//…`).join(' or ');
    // Not the value: it may hold a password.
    throw new BenchError('bad-option', `${option}: no address of a server that it could be`, `give ${expected}`);
  }
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}
