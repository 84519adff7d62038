import { controlCharacters } from '../../base/control-characters.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';

export function openRunDatabase({ db, databaseEcho }: Pick<BenchConfig, 'db' | 'databaseEcho'>): BenchDatabase {
  // SQL may contain texts of users: control characters would reach the terminal.
  const echo = (sql: string) => void process.stderr.write(`${sql.replaceAll(controlCharacters, ' ')}\n`);
  return openDatabase(databaseEcho ? { path: db, echo } : { path: db });
}
