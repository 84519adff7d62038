import type { BenchConfig } from '../../config/bench-config.ts';
import { controlCharacters } from '../../base/control-characters.ts';
import { type BenchDatabase, openDatabase } from '../../store/database.ts';

/** Opens the database of the runs. */
export function openRuns({ db, databaseEcho }: Pick<BenchConfig, 'db' | 'databaseEcho'>): BenchDatabase {
  // It holds texts of users, on lines of its own.
  const line = (sql: string): string => `${sql.replaceAll(controlCharacters, ' ')}\n`;
  const echo = databaseEcho ? { echo: (sql: string) => void process.stderr.write(line(sql)) } : {};
  return openDatabase({ path: db, ...echo });
}
