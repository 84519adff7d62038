/** Methods that label a question with strategies. */
export const routeStrategies = ['keyword', 'classifier', 'llm'] as const;
export type RouteStrategy = (typeof routeStrategies)[number];

/** Hints for the search, which a memory follows as far as it can. */
export interface RetrievalHints {
  /** Labels, best first. */
  readonly strategies: readonly string[];
  readonly route_strategy: RouteStrategy;
  /** `search_depth`, `expand_links`, `time_range`, `include_persona`, `tier_preference`, and other parameters of a rule. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A question during preparation; the keys are those of the source document. */
export interface QueryRecord {
  readonly question: string;
  /** The original question, if it was changed. */
  readonly original_question?: string;
  /** Parts that can be answered independently. */
  readonly sub_questions?: readonly string[];
  /** The unit vector of the question. */
  readonly query_embedding?: Float32Array;
  /** Unit vectors of rephrasings and parts, by name. */
  readonly query_embeddings?: Readonly<Record<string, Float32Array>>;
  readonly retrieval_hints?: RetrievalHints;
  /** Reason why the question is invalid; no search is made then. */
  readonly invalid?: string;
  /** Reasons for using another method than the configured one. */
  readonly fallbacks?: readonly string[];
}

/** Adds a fallback to a record. */
export function fellBack(record: QueryRecord, reason: string): QueryRecord {
  return { ...record, fallbacks: [...(record.fallbacks ?? []), reason] };
}
