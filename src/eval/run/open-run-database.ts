import { controlCharacters } from '../../base/control-characters.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';

export function openRunDatabase({ db, databaseEcho }: Pick<BenchConfig, 'db' | 'databaseEcho'>): BenchDatabase {
  // It holds texts of users, on lines of its own.
  const echo = (sql: string) => void process.stderr.write(`${sql.replaceAll(controlCharacters, ' ')}\n`);
  return openDatabase(databaseEcho ? { path: db, echo } : { path: db });
}
