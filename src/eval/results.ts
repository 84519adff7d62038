import type { Language } from './metrics/normalise.ts';
import type { Quantiles } from './statistics/quantile.ts';

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
  /** What each arm comes to under each condition that the suite's data vary; empty where they vary none. */
  readonly conditions: readonly ConditionResults[];
  /** From which turn on K/V pays, by arm; empty without arms that keep K/V. */
  readonly breakEven: readonly BreakEven[];
  /** What a suite measured beside turns; null where it measures turns alone. */
  readonly measured: Measured | null;
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
    /** Cells of one sequence: more than its positions where blocks may share these. */
    readonly cellTokens: number;
  };
  readonly embedder: { readonly name: string; readonly sha256: string };
  readonly dataset: {
    readonly name: string;
    readonly sha256: string;
    readonly items: number;
    readonly users: number;
    /** Items by kind of user, category and phrasing: `{ recurring: 200, large: 200 }` and so on. */
    readonly counts: Readonly<Record<'userKind' | 'category' | 'phrasing', Readonly<Record<string, number>>>>;
    /** The data sets that were asked together, with what was asked of each; missing where it is one. */
    readonly parts?: readonly DatasetPart[];
  };
  /** Why this run gives no number for quality: all such values are null and not compared; null where it gives them. */
  readonly unknownQuality: string | null;
  readonly retriever: {
    readonly name: string;
    readonly backend: string;
    readonly version: string;
    /** Where hot and cold memory lay, for the strategy that has both. */
    readonly tiers?: Readonly<Record<'hot' | 'cold', string>>;
    /** As the retriever counts, after the last user. */
    readonly stats: Readonly<Record<string, unknown>>;
  };
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

/** One of several data sets of a run. */
export interface DatasetPart {
  readonly name: string;
  readonly sha256: string;
  readonly language: Language;
  readonly items: number;
  readonly users: number;
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
  readonly phasesMs: PhaseMeans;
  readonly ttftMs: Estimate;
  readonly totalMs: Estimate;
}

export type QualityMetric =
  | 'exactMatch'
  | 'tokenF1'
  | 'memoryRecall'
  | 'abstention'
  | 'taskSuccess'
  | 'rougeL'
  | 'bleu'
  | 'goldLogProbability'
  | 'freeLogProbability'
  | 'klDivergence'
  | 'topOneAgreement';
export type WrongClass = 'wrong-abstention' | 'stale' | 'confused' | 'near-copy' | 'fabricated' | 'off-topic';
export type FunnelStage = 'stored' | 'recalled' | 'kept' | 'sequence' | 'answered';

export interface ArmResults {
  readonly arm: string;
  /** Turns that gave an answer. */
  readonly n: number;
  readonly errors: number;
  /** Quality over all items; `ttftMs` and `totalMs` over the seen turns. Null where nothing is defined or known. */
  readonly metrics: Readonly<Record<QualityMetric | 'ttftMs' | 'totalMs', Estimate | null>>;
  readonly breakdown: readonly BreakdownPart[];
  /** Means a turn over the seen turns; null where no turn was seen. */
  readonly tokens: TokenMeans | null;
  readonly turns: { readonly new: number; readonly seen: number; readonly exempt: number };
  readonly costSeen: Cost | null;
  readonly costNew: Cost | null;
  readonly costAll: Cost | null;
  /**
   * Tokens evaluated and time taken before turns, when memories were added: means a turn over all turns, in no other
   * number. Missing for arms that do nothing ahead.
   */
  readonly ahead?: { readonly tokens: number; readonly ms: number };
  /** Seen turns ÷ turns that kept memories; null for arms that keep no K/V. */
  readonly hitRate: number | null;
  /** Wrong answers by class, counts; null where quality is unknown. */
  readonly wrong: Readonly<Record<WrongClass, number>> | null;
  /** Answerable items that reach each stage, counts; `answered` is null where quality is unknown. */
  readonly funnel: Readonly<Record<Exclude<FunnelStage, 'answered'>, number>> & { readonly answered: number | null };
}

/** Quality by kind of user, category and phrasing; by language where the users of the run speak several. */
export interface BreakdownPart {
  readonly by: 'userKind' | 'category' | 'phrasing' | 'language';
  readonly value: string;
  /** Null where only absent items are. */
  readonly exactMatch: Estimate | null;
  readonly taskSuccess: Estimate | null;
  /** By language alone, as the two below. */
  readonly tokenF1?: Estimate | null;
  readonly memoryRecall?: Estimate | null;
  /** Null where only answerable items are. */
  readonly abstention?: Estimate | null;
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
  /**
   * The smallest true difference that these items would show four times in five; null where no pair differs, and where
   * nothing is tested.
   */
  readonly detectable: number | null;
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

/** Means a turn, ms: where the time to the first token goes. */
export type PhaseMeans = Readonly<
  Record<'retrieve' | 'assemble' | 'gate' | 'kvLoad' | 'kvCompute' | 'prefill' | 'firstToken' | 'decode', number>
>;

/** One arm under one condition, over all its turns there, or over those whose evidence lies in one third of the memories. */
export interface ConditionResults {
  readonly arm: string;
  /** As the data set gives it: the share of the window, the number of memories, the depth of the conversation. */
  readonly condition: number;
  /** Where the evidence stands among the memories, by creation; null for all items. */
  readonly place: 'early' | 'middle' | 'late' | null;
  readonly n: number;
  readonly errors: number;
  readonly metrics: Readonly<Record<QualityMetric | 'ttftMs', Estimate | null>>;
  readonly phasesMs: PhaseMeans;
  readonly tokens: TokenMeans;
  /** Means a turn: memories that the user had, that were recalled, that fitted, and their tokens. */
  readonly memories: Readonly<Record<'stored' | 'recalled' | 'kept' | 'dropped' | 'tokens', number>>;
  /** Turns whose question alone was left of the prompt. */
  readonly forced: number;
}

/** What keeping K/V costs at first and saves later, in time to the first token, against `rag`. */
export interface BreakEven {
  readonly arm: string;
  /** Of a turn that builds its K/V, of one that finds it, and of `rag` on the same turns. */
  readonly newMs: number;
  readonly seenMs: number;
  readonly ragMs: number;
  /** The first turn with one set of memories after which the sum is below that of `rag`; null for never. */
  readonly turn: number | null;
  /** 95 % interval over users; null stands for never. */
  readonly low: number | null;
  readonly high: number | null;
}

/** What suites measure that ask no questions. */
export interface Measured {
  readonly storage?: readonly StorageMeasurement[];
  readonly leaks?: readonly LeakMatrix[];
  readonly retrieval?: RetrievalMeasurements;
}

/** Bytes of K/V, and what moving them takes. */
export interface StorageMeasurement {
  readonly kvType: string;
  readonly tier: 'memory' | 'disk' | 'text';
  readonly tokens: number;
  readonly bytesPerToken: number;
  /** Over the repeats; null for what is neither saved nor loaded. */
  readonly saveMs: Quantiles | null;
  readonly loadMs: Quantiles | null;
  /** Evaluating the same tokens, median. */
  readonly evaluateMs: number | null;
}

/** Whose secret came out for whom, for one arm: `said[asker][owner]` counts answers. */
export interface LeakMatrix {
  readonly arm: string;
  readonly users: readonly string[];
  /** Answers of each asker. */
  readonly answers: number;
  readonly said: readonly (readonly number[])[];
  /** Upper 95 % bound of the share of answers that hold another's secret. */
  readonly upperBound: number;
}

/** Strategies of recall on questions whose evidence is known, made by the seed of the run. */
export interface RetrievalMeasurements {
  readonly users: number;
  /** Of each user, at least. */
  readonly memories: number;
  readonly rows: readonly RetrievalMeasurement[];
  /** By strategy, as it counts itself: what its filters refused, what its caches saved. */
  readonly stats: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** How well one strategy recalls questions of one kind. */
export interface RetrievalMeasurement {
  readonly strategy: string;
  /** `all`, or a kind of question. */
  readonly kind: string;
  readonly n: number;
  readonly metrics: Readonly<Record<'recallAt1' | 'recallAt5' | 'recallAt10' | 'mrr' | 'ndcgAt10', Estimate | null>>;
  /** Recall@5 less that of the router, paired by question; null for the router itself. */
  readonly againstRouter: (Pick<Estimate, 'low' | 'high'> & { readonly delta: number; readonly p: number }) | null;
  readonly timingsMs: Readonly<Record<'embedding' | 'search' | 'ranking' | 'total', number>>;
  /** Means a question; null where the strategy has no budget. */
  readonly budgetTokens: { readonly used: number; readonly limit: number } | null;
}
