import { sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';

/** A number that changes when another connection has written to the file: not the writes of this one. */
export function dataVersion(database: BenchDatabase): number {
  return database.guard(() => database.query.get<{ readonly data_version: number }>(sql`PRAGMA data_version`))
    .data_version;
}
