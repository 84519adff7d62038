import { eq } from 'drizzle-orm';
import { Repository } from './database.ts';
import { judgeVerdicts } from './schema.ts';

/** Verdicts of judges that are known, by the hash of what was asked: no text is kept. */
export class VerdictRepository extends Repository {
  /** True of an answer that is right; undefined where nobody was asked. */
  find(key: string): boolean | undefined {
    return this.database.guard((query) =>
      query.select({ right: judgeVerdicts.right }).from(judgeVerdicts).where(eq(judgeVerdicts.key, key)).get(),
    )?.right;
  }

  /** Keeps a verdict; the first of two stays. */
  add(key: string, right: boolean): void {
    this.database.guard((query) =>
      query.insert(judgeVerdicts).values({ key, right, createdAt: Date.now() }).onConflictDoNothing().run(),
    );
  }
}
