/**
 * What a run comes to: the document that `results.json` and `--json` hold, and that tables are drawn from.
 * Every number here is computed from the stored turns of the run.
 */
export interface RunResults {
  readonly run: RunDescription;
  readonly arms: readonly ArmResults[];
  readonly comparisons: readonly Comparison[];
  readonly gates: readonly GateResult[];
  readonly gatesNotRun: readonly GateNotRun[];
}

export interface RunDescription {
  readonly id: string;
  readonly name: string;
  readonly suite: string;
  readonly seed: number;
  readonly status: 'finished' | 'interrupted' | 'failed';
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly model: {
    readonly name: string;
    readonly sha256: string;
    readonly parameters: number;
    readonly contextTokens: number;
  };
  readonly embedder: { readonly name: string; readonly sha256: string };
  readonly dataset: {
    readonly name: string;
    readonly sha256: string;
    readonly items: number;
    readonly users: number;
    /** Items by kind of user, category and phrasing: `{ recurring: 200, large: 200 }` and so on. */
    readonly counts: Readonly<Record<'userKind' | 'category' | 'phrasing', Readonly<Record<string, number>>>>;
  };
  readonly retriever: { readonly name: string; readonly backend: string; readonly version: string };
  /** Why this run gives no number for quality: all such values are null and not compared; null where it gives them. */
  readonly unknownQuality: string | null;
  readonly environment: Readonly<Record<string, unknown>>;
  /** The options that the turns depend on. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Where the wall time went, ms, over all sessions of the run: `modelMs` inside node-llama-cpp, loading included. */
  readonly profile: {
    readonly wallMs: number;
    readonly modelMs: number;
    readonly embedderMs: number;
    readonly coldStartMs: number;
  };
  /** Ids that differ between tokenising each segment alone and tokenising the joined text. */
  readonly tokenisation: { readonly prompts: number; readonly tokens: number; readonly differing: number };
  /**
   * What was kept of K/V, by arm, as its store counts: hits and evictions since the last start of the run, bytes and
   * entries as the last user left them.
   */
  readonly kvStores: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Notes a reader must see: fallbacks, shared stores, a dirty work tree. */
  readonly notes: readonly string[];
}

/** A mean over items with its 95 % interval over users; one user has no interval: its bounds are infinite (JSON: null). */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly users: number;
  readonly p50?: number;
  /** Only from n ≥ 100. */
  readonly p95?: number;
}

/** Means a turn. */
export interface TokenMeans {
  readonly prompt: number;
  readonly kvResident: number;
  readonly evaluated: number;
  readonly generated: number;
  readonly positions: number;
}

/** What a turn costs over a set of turns. */
export interface Cost {
  readonly turns: number;
  readonly tokens: TokenMeans;
  readonly ttftMs: Estimate;
  readonly totalMs: Estimate;
}

export type QualityMetric =
  'exactMatch' | 'tokenF1' | 'memoryRecall' | 'abstention' | 'taskSuccess' | 'goldLogProbability';
export type WrongClass = 'wrong-abstention' | 'stale' | 'confused' | 'near-copy' | 'fabricated' | 'off-topic';
export type FunnelStage = 'stored' | 'recalled' | 'kept' | 'sequence' | 'answered';

export interface ArmResults {
  readonly arm: string;
  /** Turns that gave an answer. */
  readonly n: number;
  readonly errors: number;
  /** Quality over all items; `ttftMs` and `totalMs` over the seen turns. Null where nothing is defined or known. */
  readonly metrics: Readonly<Record<QualityMetric | 'ttftMs' | 'totalMs', Estimate | null>>;
  /** Exact match (null where only absent items are) and task success, by kind of user, category and phrasing. */
  readonly breakdown: readonly {
    readonly by: 'userKind' | 'category' | 'phrasing';
    readonly value: string;
    readonly exactMatch: Estimate | null;
    readonly taskSuccess: Estimate | null;
  }[];
  /** Means a turn over the seen turns; null where no turn was seen. */
  readonly tokens: TokenMeans | null;
  readonly turns: { readonly new: number; readonly seen: number; readonly exempt: number };
  readonly costNew: Cost | null;
  readonly costAll: Cost | null;
  /** Seen turns ÷ turns that kept memories; null for arms that keep no K/V. */
  readonly hitRate: number | null;
  /** Wrong answers by class, counts; null where quality is unknown. */
  readonly wrong: Readonly<Record<WrongClass, number>> | null;
  /** Answerable items that reach each stage, counts; `answered` is null where quality is unknown. */
  readonly funnel: Readonly<Record<Exclude<FunnelStage, 'answered'>, number>> & { readonly answered: number | null };
}

export interface Comparison {
  readonly a: string;
  readonly b: string;
  readonly metric: 'exactMatch' | 'ttftLogRatio' | 'evaluatedTokens';
  /** a − b, paired by item; for `ttftLogRatio` ln(a ÷ b). */
  readonly delta: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly users: number;
  /** Two-sided, sign-flip over users; null where no test is made. */
  readonly p: number | null;
  /** Holm over the family named beforehand; null outside it. */
  readonly pAdjusted: number | null;
  readonly verdict: Verdict;
  /** Items needed to decide, where undecided. */
  readonly neededItems?: number;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export type Verdict =
  'identical' | 'kept' | 'lost' | 'undecided' | 'within A/A noise' | 'faster' | 'slower' | 'not judged';

export type GateName =
  'identity' | 'materialisation' | 'parity' | 'controls' | 'isolation' | 'metrics' | 'live flags' | 'errors';

export interface GateResult {
  readonly gate: GateName;
  readonly held: boolean;
  /** One line that a reader can check. */
  readonly evidence: string;
}

export interface GateNotRun {
  readonly gate: GateName;
  readonly why: string;
}
