import { eq } from 'drizzle-orm';
import { Repository } from './database.ts';
import { judgeVerdicts } from './schema.ts';

/** Stored verdicts of judges, by a hash of the request: no text is stored. */
export class JudgeVerdictRepository extends Repository {
  /** True for a right answer; undefined without a verdict. */
  find(key: string): boolean | undefined {
    return this.select(judgeVerdicts, eq(judgeVerdicts.key, key))[0]?.right;
  }

  /** Stores a verdict, unless there is one already. */
  add(key: string, right: boolean): void {
    const row = { key, right, createdAt: Date.now() };
    this.database.guard((query) => query.insert(judgeVerdicts).values(row).onConflictDoNothing().run());
  }
}
