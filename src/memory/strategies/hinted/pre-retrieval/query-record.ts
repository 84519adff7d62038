/** How the labels of a question were found. */
export const routeStrategies = ['keyword', 'classifier', 'llm'] as const;
export type RouteStrategy = (typeof routeStrategies)[number];

/** How a question would best be answered: advice to the memory, which does with it what it can. @see seed 003 §5.1 */
export interface RetrievalHints {
  /** Labels, the most fitting first. */
  readonly strategies: readonly string[];
  readonly route_strategy: RouteStrategy;
  /** `search_depth`, `expand_links`, `time_range`, `include_persona`, `tier_preference`, and what a rule adds. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A question on its way to the memory; the keys are those of the source document. @see seed 003 */
export interface QueryRecord {
  readonly question: string;
  /** What was asked, where the question was changed. */
  readonly original_question?: string;
  /** Parts that can be answered each alone. */
  readonly sub_questions?: readonly string[];
  /** The unit vector of the question. */
  readonly query_embedding?: Float32Array;
  /** Further unit vectors that ask the same, by what was embedded. */
  readonly query_embeddings?: Readonly<Record<string, Float32Array>>;
  readonly retrieval_hints?: RetrievalHints;
  /** Why the question cannot be asked; nothing else is done with it then. */
  readonly invalid?: string;
  /** Each time another way was taken than the chosen one: why. */
  readonly fallbacks?: readonly string[];
}

/** A record with one more fallback. */
export function fellBack(record: QueryRecord, reason: string): QueryRecord {
  return { ...record, fallbacks: [...(record.fallbacks ?? []), reason] };
}
