import { eq } from 'drizzle-orm';
import { type AttributionRecord, attributionRecord } from './records/turn-record.ts';
import { Repository } from './database.ts';
import { readRecord } from './read-record.ts';
import { attributions } from './schema.ts';

/** Leave-one-out attributions of answers, one a turn at most. */
export class AttributionRepository extends Repository {
  /** Stores the attribution of a turn in place of the one that was stored before. */
  put(turnId: number, { method, logProbability, memories, modelMs }: AttributionRecord): void {
    const row = { method, logProbability, memories, modelMs, createdAt: Date.now() };
    this.database.transaction(() => {
      this.database.query
        .insert(attributions)
        .values({ turnId, ...row })
        .onConflictDoUpdate({ target: attributions.turnId, set: row })
        .run();
    });
  }

  /** The attribution of a turn, or undefined. */
  find(turnId: number): AttributionRecord | undefined {
    const row = this.database.guard((query) =>
      query.select().from(attributions).where(eq(attributions.turnId, turnId)).get(),
    );
    return row === undefined ? undefined : readRecord(attributionRecord, row, `the attribution of turn ${turnId}`);
  }
}
