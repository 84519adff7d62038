import { and, eq, inArray } from 'drizzle-orm';
import { batches } from '../base/batches.ts';
import { Repository } from './database.ts';
import { tokenPieces } from './schema.ts';

/** SQLite takes 32,766 values a statement; three per row fit. */
const rowsAtOnce = 5000;

/** Texts of the tokens of models; sequences are stored as ids alone. */
export class TokenPieceRepository extends Repository {
  /** Stores pieces by token id; those that are there already stay. */
  add(modelSha256: string, pieces: ReadonlyMap<number, string>): void {
    this.database.transaction((query) => {
      for (const part of batches([...pieces], rowsAtOnce)) {
        const rows = part.map(([tokenId, piece]) => ({ modelSha256, tokenId, piece }));
        query.insert(tokenPieces).values(rows).onConflictDoNothing().run();
      }
    });
  }

  all(modelSha256: string): Map<number, string> {
    const rows = this.select(tokenPieces, eq(tokenPieces.modelSha256, modelSha256));
    return new Map(rows.map(({ tokenId, piece }) => [tokenId, piece]));
  }

  /** The pieces of those ids that are known, by token id. */
  find(modelSha256: string, tokenIds: Iterable<number>): Map<number, string> {
    const isOfModel = eq(tokenPieces.modelSha256, modelSha256);
    const rows = batches([...new Set(tokenIds)], rowsAtOnce).flatMap((part) =>
      this.select(tokenPieces, and(isOfModel, inArray(tokenPieces.tokenId, part))),
    );
    return new Map(rows.map(({ tokenId, piece }) => [tokenId, piece]));
  }
}
