import { BenchError } from '../../base/bench-error.ts';

/** Version of all records: of turns, of runs and of results. From 1 on, reading upgrades older ones. */
export const schemaVersion = 1;

/** @throws BenchError `database` for records of another version than this program's */
export function requireSchemaVersion(version: number, name: string): void {
  if (version === schemaVersion) return;
  throw new BenchError(
    'database',
    `${name} holds records of version ${version}, this program reads version ${schemaVersion}`,
    version > schemaVersion
      ? 'update dki-bench, or name another file with --db'
      : 'run the bench again, or name another file with --db',
  );
}
