import { sql, type SQL } from 'drizzle-orm';

/** How PostgreSQL searches: by lists of near vectors, or by a graph (HNSW). */
export type PostgresIndex =
  | {
      readonly kind: 'ivfflat';
      /** How many lists the vectors are put in. */
      readonly lists: number;
      /** How many of them a search looks through: pgvector's default is 1; as many as there are is exact. */
      readonly probes: number;
    }
  | {
      readonly kind: 'hnsw';
      /** Connections a node. */
      readonly m: number;
      /** Candidates looked at while the graph is built, and while it is searched. */
      readonly efConstruction: number;
      readonly efSearch: number;
    };

/** By the name that `--cold-index` knows: the seed's index searched exactly, the same with pgvector's default, a graph. */
export const postgresIndexes = {
  ivfflat: { kind: 'ivfflat', lists: 100, probes: 100 },
  'ivfflat-approximate': { kind: 'ivfflat', lists: 100, probes: 1 },
  hnsw: { kind: 'hnsw', m: 16, efConstruction: 64, efSearch: 40 },
} as const satisfies Readonly<Record<string, PostgresIndex>>;

/** For the run's record. */
export function indexDescription(index: PostgresIndex): string {
  return index.kind === 'ivfflat'
    ? `ivfflat lists=${index.lists} probes=${index.probes}`
    : `hnsw m=${index.m} ef_construction=${index.efConstruction} ef_search=${index.efSearch}`;
}

/** Whether a search may miss one of the nearest, by how the index was built. */
export function isApproximate(index: PostgresIndex): boolean {
  return index.kind === 'hnsw' || index.probes < index.lists;
}

/** What a connection must be told before it searches. */
export function searchSettings(index: PostgresIndex): string {
  return index.kind === 'ivfflat' ? `SET ivfflat.probes = ${index.probes}` : `SET hnsw.ef_search = ${index.efSearch}`;
}

/** Makes the index where there is none, and takes away one of another kind, which a search might use instead. */
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

/** Puts the vectors into lists anew: those of an index that was made of few fit the many badly. */
export function rebuildStatement(schema: string): SQL {
  return sql`REINDEX INDEX ${sql.identifier(schema)}.${sql.identifier('memories_embedding_ivfflat')}`;
}

/** Counts what the planner chooses by: how many rows a group has, and so whether its index is worth searching. */
export function statisticsStatement(schema: string): SQL {
  return sql`ANALYZE ${sql.identifier(schema)}.memories`;
}
