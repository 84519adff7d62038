import Sqlite from 'better-sqlite3';
import { textTerms } from '../text-terms.ts';
import type { MemoryScope } from './salience-entry.ts';

/** Maximum number of terms looked up for a query; later ones are ignored. */
const MAX_TERMS = 256;
/**
 * Maximum number of rows that the terms of a query may match in total. Rare terms come first: frequent ones, which are left
 * out, distinguish least and cost most.
 */
const MAX_ROWS = 500;

/**
 * Full-text index on SQLite FTS5, ranked by BM25. Each index is a separate database in memory, so that one user's words
 * do not affect another's ranking. A query is a list of quoted terms, without operators.
 */
export class FullTextIndex implements Disposable {
  readonly #client = new Sqlite(':memory:');
  readonly #search: Sqlite.Statement<[string, number], number>;
  readonly #documents: Sqlite.Statement<[string], number>;

  constructor() {
    // Terms are stored, not texts; the scope is searched like a term, with weight 0.
    this.#client.exec(`
      CREATE VIRTUAL TABLE texts USING fts5(
        terms, scope, content='', contentless_delete=1,
        tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
      );
      INSERT INTO texts(texts, rank) VALUES ('rank', 'bm25(1.0, 0.0)');
      CREATE VIRTUAL TABLE vocabulary USING fts5vocab(texts, 'col');
    `);
    const search = 'SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?';
    this.#search = this.#client.prepare<[string, number], number>(search).pluck();
    const documents = "SELECT doc FROM vocabulary WHERE term = ? AND col = 'terms'";
    this.#documents = this.#client.prepare<[string], number>(documents).pluck();
  }

  /** Adds texts under new row ids, all or none. */
  add(texts: readonly { readonly row: number; readonly text: string; readonly scope: MemoryScope }[]): void {
    const insert = this.#client.prepare('INSERT INTO texts(rowid, terms, scope) VALUES (?, ?, ?)');
    this.#client.transaction(() => {
      for (const { row, text, scope } of texts) insert.run(row, textTerms(text).join(' '), scope);
    })();
  }

  remove(row: number): void {
    this.#client.prepare('DELETE FROM texts WHERE rowid = ?').run(row);
  }

  /** Returns the rows of the `limit` best texts, best first; only texts with a term of the query. */
  search(query: string, limit: number, scope?: MemoryScope): number[] {
    const terms = this.#rarest(textTerms(query));
    if (terms.length === 0) return [];
    const match = `terms : (${terms.map((term) => `"${term}"`).join(' OR ')})`;
    return this.#search.all(scope === undefined ? match : `${match} AND scope : "${scope}"`, limit);
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #rarest(terms: readonly string[]): string[] {
    const known = [...new Set(terms)]
      .slice(0, MAX_TERMS)
      .map((term) => ({ term, rows: this.#documents.get(term) ?? 0 }))
      .filter(({ rows }) => rows > 0)
      .sort((a, b) => a.rows - b.rows);
    let rows = 0;
    return known.filter((found, index) => (rows += found.rows) <= MAX_ROWS || index === 0).map(({ term }) => term);
  }
}
