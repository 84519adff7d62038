import type { ColdIndexName } from '../../config/retriever-names.ts';
import { postgresAddress, redisAddress } from '../../config/server-address.ts';

/** Addresses of the stores of `tiered`, from the options. */
export interface TieredSettings {
  /** `redis://…`. Default: in this process. */
  readonly hot?: string | undefined;
  /** `postgres://…`. Default: a SQLite file. */
  readonly cold?: string | undefined;
  readonly coldIndex: ColdIndexName;
}

/**
 * Returns the addresses of the stores for a run's record, without users and passwords.
 * @throws BenchError `bad-option` for an invalid address
 */
export function placesOfTiers({ hot, cold }: TieredSettings): Readonly<Record<'hot' | 'cold', string>> {
  return {
    hot: hot === undefined ? 'in-process' : redisAddress(hot),
    cold: cold === undefined ? 'sqlite' : postgresAddress(cold),
  };
}
