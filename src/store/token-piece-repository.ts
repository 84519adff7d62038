import { and, eq, inArray } from 'drizzle-orm';
import { batches } from '../base/batches.ts';
import { Repository } from './database.ts';
import { tokenPieces } from './schema.ts';

/** Rows in one statement: a row has three values, and SQLite allows 32,766. */
const rowsAtOnce = 5000;

/** Texts of each model's tokens, since turns store sequences as token ids. */
export class TokenPieceRepository extends Repository {
  /** Adds pieces by token id; stored ones are not changed. */
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

  /** The known pieces among these ids, by token id. */
  find(modelSha256: string, tokenIds: Iterable<number>): Map<number, string> {
    const isOfModel = eq(tokenPieces.modelSha256, modelSha256);
    const rows = batches([...new Set(tokenIds)], rowsAtOnce).flatMap((part) =>
      this.select(tokenPieces, and(isOfModel, inArray(tokenPieces.tokenId, part))),
    );
    return new Map(rows.map(({ tokenId, piece }) => [tokenId, piece]));
  }
}
