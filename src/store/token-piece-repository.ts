import { and, eq, inArray } from 'drizzle-orm';
import { Repository } from './database.ts';
import { tokenPieces } from './schema.ts';

/** SQLite takes 32,766 values a statement; three per row fit. */
const rowsAtOnce = 5000;

function parts<Value>(values: readonly Value[]): Value[][] {
  const count = Math.ceil(values.length / rowsAtOnce);
  return Array.from({ length: count }, (_, part) => values.slice(part * rowsAtOnce, (part + 1) * rowsAtOnce));
}

/** Texts of the tokens of models; sequences are stored as ids alone. */
export class TokenPieceRepository extends Repository {
  /** Stores pieces by token id; those that are there already stay. */
  add(modelSha256: string, pieces: ReadonlyMap<number, string>): void {
    this.database.transaction((query) => {
      for (const part of parts([...pieces])) {
        const rows = part.map(([tokenId, piece]) => ({ modelSha256, tokenId, piece }));
        query.insert(tokenPieces).values(rows).onConflictDoNothing().run();
      }
    });
  }

  /** All stored pieces of a model, by token id. */
  all(modelSha256: string): Map<number, string> {
    return this.#read(eq(tokenPieces.modelSha256, modelSha256));
  }

  /** The pieces of those ids that are known, by token id. */
  find(modelSha256: string, tokenIds: Iterable<number>): Map<number, string> {
    const ofModel = eq(tokenPieces.modelSha256, modelSha256);
    return new Map(
      parts([...new Set(tokenIds)]).flatMap((part) => [
        ...this.#read(and(ofModel, inArray(tokenPieces.tokenId, part))),
      ]),
    );
  }

  #read(where: ReturnType<typeof and>): Map<number, string> {
    const { tokenId, piece } = tokenPieces;
    const rows = this.database.guard((query) => query.select({ tokenId, piece }).from(tokenPieces).where(where).all());
    return new Map(rows.map((row) => [row.tokenId, row.piece]));
  }
}
