import { BenchError } from '../../base/bench-error.ts';

/** Version of the records of turns, runs and results. Later versions will upgrade records from version 1 when reading. */
export const schemaVersion = 1;

/** @throws BenchError `database` for records of a version that this program does not read */
export function requireSchemaVersion(version: number, name: string): void {
  if (version === schemaVersion) return;
  const message = `${name} holds records of version ${version}, this program reads version ${schemaVersion}`;
  const remedy = version > schemaVersion ? 'update dki-bench' : 'run the bench again';
  throw new BenchError('database', message, `${remedy}, or name another file with --db`);
}
