import { eq } from 'drizzle-orm';
import { type AttributionRecord, attributionRecord } from './records/attribution-record.ts';
import { Repository } from './database.ts';
import { checkStoredRecord } from './check-stored-record.ts';
import { attributions } from './schema.ts';

/** Leave-one-out attributions of answers, at most one per turn. */
export class AttributionRepository extends Repository {
  put(turnId: number, { method, logProbability, memories, modelMs }: AttributionRecord): void {
    const row = { turnId, method, logProbability, memories, modelMs, createdAt: Date.now() };
    const update = { target: attributions.turnId, set: row };
    this.database.guard((query) => query.insert(attributions).values(row).onConflictDoUpdate(update).run());
  }

  find(turnId: number): AttributionRecord | undefined {
    const [row] = this.select(attributions, eq(attributions.turnId, turnId));
    return row && checkStoredRecord(attributionRecord, row, `the attribution of turn ${turnId}`);
  }
}
