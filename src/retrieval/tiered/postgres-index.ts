import { sql, type SQL } from 'drizzle-orm';

/** Vector index of PostgreSQL: lists of near vectors (IVFFlat), or a graph (HNSW). */
export type PostgresIndex =
  | {
      readonly kind: 'ivfflat';
      /** Number of lists. */
      readonly lists: number;
      /** Lists read by a search: pgvector's default is 1; all lists are exact. */
      readonly probes: number;
    }
  | {
      readonly kind: 'hnsw';
      /** Connections a node. */
      readonly m: number;
      /** Candidates examined while building and while searching the graph. */
      readonly efConstruction: number;
      readonly efSearch: number;
    };

/** Indexes by the names of `--cold-index`: IVFFlat with exact search, IVFFlat with pgvector's default, HNSW. */
export const postgresIndexes = {
  ivfflat: { kind: 'ivfflat', lists: 100, probes: 100 },
  'ivfflat-approximate': { kind: 'ivfflat', lists: 100, probes: 1 },
  hnsw: { kind: 'hnsw', m: 16, efConstruction: 64, efSearch: 40 },
} as const satisfies Readonly<Record<string, PostgresIndex>>;

/** Describes an index for the run's record. */
export function indexDescription(index: PostgresIndex): string {
  return index.kind === 'ivfflat'
    ? `ivfflat lists=${index.lists} probes=${index.probes}`
    : `hnsw m=${index.m} ef_construction=${index.efConstruction} ef_search=${index.efSearch}`;
}

/** True if a search may miss one of the nearest vectors. */
export function isApproximate(index: PostgresIndex): boolean {
  return index.kind === 'hnsw' || index.probes < index.lists;
}

/** Returns the statement that sets up a connection for searches. */
export function searchSettings(index: PostgresIndex): string {
  return index.kind === 'ivfflat' ? `SET ivfflat.probes = ${index.probes}` : `SET hnsw.ef_search = ${index.efSearch}`;
}

/** Returns statements that create the index and drop one of the other kind, which the planner might use instead. */
export function indexStatements(schema: string, index: PostgresIndex): readonly SQL[] {
  const name = (kind: PostgresIndex['kind']): SQL => sql`${sql.identifier(`memories_embedding_${kind}`)}`;
  const inSchema = (kind: PostgresIndex['kind']): SQL => sql`${sql.identifier(schema)}.${name(kind)}`;
  const table = sql`${sql.identifier(schema)}.memories`;
  return index.kind === 'ivfflat'
    ? [
        sql`DROP INDEX IF EXISTS ${inSchema('hnsw')}`,
        sql`CREATE INDEX IF NOT EXISTS ${name('ivfflat')} ON ${table} USING ivfflat (embedding vector_cosine_ops)
          WITH (lists = ${sql.raw(String(index.lists))})`,
      ]
    : [
        sql`DROP INDEX IF EXISTS ${inSchema('ivfflat')}`,
        sql`CREATE INDEX IF NOT EXISTS ${name('hnsw')} ON ${table} USING hnsw (embedding vector_cosine_ops)
          WITH (m = ${sql.raw(String(index.m))}, ef_construction = ${sql.raw(String(index.efConstruction))})`,
      ];
}

/** Returns the statement that rebuilds the lists, which fit badly if they were built from few vectors. */
export function rebuildStatement(schema: string): SQL {
  return sql`REINDEX INDEX ${sql.identifier(schema)}.${sql.identifier('memories_embedding_ivfflat')}`;
}

/** Returns the statement that gathers statistics, by which the planner decides between a group's rows and the index. */
export function statisticsStatement(schema: string): SQL {
  return sql`ANALYZE ${sql.identifier(schema)}.memories`;
}
