import { eq } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { tokenPieces } from './schema.ts';
import { TokenPieceRepository } from './token-piece-repository.ts';
import { readUserRows, writeUserRows } from './user-rows.ts';

/** A user of a run in one database, and the run of another database that gets what stands there of them. */
export interface UserToCopy {
  readonly from: string;
  readonly to: string;
  readonly userId: string;
  /** Place among the users of the plan. */
  readonly position: number;
  /** Id of the part of the run that answered for the user. */
  readonly part: string;
}

/** Copies all that a run holds of a user, in the order of writing: turns, sessions with memories and messages, audit entries. */
export function copyUser(
  source: BenchDatabase,
  target: BenchDatabase,
  { from, to, userId, position, part }: UserToCopy,
): void {
  const rows = source.guard(() => readUserRows(source, { runId: from, userId }));
  writeUserRows(target, { runId: to, userId, position, worker: part }, rows);
}

/** Copies the texts of a model's tokens. @param model its hash, or its name where it has none */
export function copyTokenPieces(source: BenchDatabase, target: BenchDatabase, model: string): void {
  const rows = source.query.select().from(tokenPieces).where(eq(tokenPieces.modelSha256, model)).all();
  new TokenPieceRepository(target).add(model, new Map(rows.map(({ tokenId, piece }) => [tokenId, piece])));
}
