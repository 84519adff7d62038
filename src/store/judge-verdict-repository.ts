import { eq } from 'drizzle-orm';
import { Repository } from './database.ts';
import { judgeVerdicts } from './schema.ts';

/** Stored verdicts of judges, by a hash of the request: no text is stored. */
export class JudgeVerdictRepository extends Repository {
  /** From 0, wrong, to 1, right; undefined without a verdict. */
  find(key: string): number | undefined {
    return this.select(judgeVerdicts, eq(judgeVerdicts.key, key))[0]?.value;
  }

  /** Stores a verdict, unless there is one already. */
  add(key: string, value: number): void {
    const row = { key, value, createdAt: Date.now() };
    this.database.guard((query) => query.insert(judgeVerdicts).values(row).onConflictDoNothing().run());
  }
}
