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

/** A question during preparation; the keys are those of the design document. */
export interface QueryRecord {
  readonly question: string;
  readonly original_question?: string;
  /** Parts that can be answered independently. */
  readonly sub_questions?: readonly string[];
  /** The unit vector of the question. */
  readonly query_embedding?: Float32Array;
  /** Unit vectors of rephrasings and parts, by name. */
  readonly query_embeddings?: Readonly<Record<string, Float32Array>>;
  readonly retrieval_hints?: RetrievalHints;
  /** Reason why the question is invalid and not searched for. */
  readonly invalid?: string;
  /** Reasons why a method other than the configured one was used. */
  readonly fallbacks?: readonly string[];
}

/** A question and the strategy that fits it. */
export interface RouteExample {
  readonly question: string;
  readonly strategy: string;
}

/** Port to a language model that prepares questions. Its inputs are data, never instructions. */
export interface QueryModel extends AsyncDisposable {
  readonly name: string;
  /**
   * Scores labels by how much more probable they are after the prompt than after the neutral one.
   * @returns differences of the mean ln p of a label's tokens, in the order of the labels
   */
  scoreLabels(prompt: string, neutralPrompt: string, labels: readonly string[]): Promise<readonly number[]>;
  /** Continues a prompt to the end of the line. */
  writeLine(prompt: string): Promise<string>;
}

/** Tools for preparing questions; none reaches a store. */
export interface QueryTools {
  /** Returns the unit vectors of texts, in order. */
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  /** Training examples of the classifier. */
  readonly examples: readonly RouteExample[];
  /** Held-out examples on which a model must prove its ability before it is used. */
  readonly probes: readonly RouteExample[];
  readonly model?: QueryModel | undefined;
}
