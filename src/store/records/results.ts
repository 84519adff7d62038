import { z } from 'zod';
import { armTraits } from './arm-traits.ts';
import { estimate, lowerBound, upperBound } from './estimate.ts';
import { measured } from './measured.ts';
import { runDescription } from './run-description.ts';
import { list, object, schemaVersion } from './schemas.ts';
import { timings, tokenCounts, wrongClasses } from './turn-record.ts';

/** The checks of a run, in the order in which they are shown. */
export const checkNames = [
  'token identity',
  'token accounting',
  'reuse',
  'cells',
  'numerical parity',
  'answers',
  'same memories',
  'clock',
  'sample',
  'negative controls',
  'isolation',
  'metrics',
  'embedder',
  'serving',
  'effect',
  'errors',
] as const;

/** One thing that a run verifies about itself. */
export const checkResult = object({
  check: z.enum(checkNames),
  /** `undecided`: these arms, this model or this n cannot decide it. */
  status: z.enum(['passed', 'failed', 'undecided']),
  /** One line that a reader can verify; the reason where undecided. */
  evidence: z.string(),
});

export type CheckName = (typeof checkNames)[number];
/** The outcome of one check of a run, with its evidence. */
export type CheckResult = z.output<typeof checkResult>;

const count = z.number();

/** Results of asking a judge about the answers of a run, beside its verdicts, which stand in the turns. */
export const judgeProbe = object({
  /** As its server calls it. */
  model: z.string(),
  /** The fixed text that it was asked with. */
  prompt: z.string(),
  /** Distinct answers that were sent; those whose verdict was known. */
  asked: count,
  known: count,
  /** Answers without a verdict, by the reason; `first` is the message of the first. */
  failed: list(object({ reason: z.string(), answers: count, first: z.string() })),
});

/** Agreement of two verdicts on `n` answers: the share on which they are the same, and that beyond chance. */
export const verdictAgreement = object({
  n: count,
  share: z.number(),
  /** Cohen's kappa; null where both say the same of every answer, so that nothing is left to agree on. */
  kappa: z.number().nullable(),
});

/** A judge in the results of a run: its verdicts are the metric `judge` of each arm. */
export const judgeResults = judgeProbe
  .unwrap()
  .extend({
    /** With `contains`, over all arms; null without an answer that both judge. */
    agreement: verdictAgreement.nullable(),
    arms: list(object({ arm: z.string(), judged: count, unjudged: count, agreement: verdictAgreement.nullable() })),
  })
  .readonly();

export type JudgeProbe = z.output<typeof judgeProbe>;
export type VerdictAgreement = z.output<typeof verdictAgreement>;
export type JudgeResults = z.output<typeof judgeResults>;

const metric = estimate.nullable();
/** Missing in documents of older runs. */
const added = metric.default(null);

/**
 * Means of the metrics that the bench knows, each over the items of which it is defined: shares from 0 to 1, log-probabilities
 * in nats, and the agreement with the reference. Metrics of the calling program follow by their names.
 */
export const qualityEstimates = z
  .object({
    exactMatch: metric,
    contains: added,
    tokenF1: metric,
    locomoF1: added,
    memoryRecall: metric,
    abstention: metric,
    taskSuccess: metric,
    rougeL: metric,
    bleu: metric,
    goldLogProb: added,
    goldKl: added,
    goldLogProbability: metric,
    freeLogProbability: metric,
    klDivergence: metric,
    topOneAgreement: metric,
  })
  .catchall(metric);

/** Means a turn. */
export const tokenMeans = tokenCounts;

/** Means a turn, ms: the parts of the time to the first token, that time, and decoding. */
export const phaseMeans = timings.unwrap().omit({ total: true }).readonly();

/** The cost of a turn over a set of turns. */
export const cost = object({
  turns: z.number(),
  tokens: tokenMeans,
  phasesMs: phaseMeans,
  ttftMs: estimate,
  totalMs: estimate,
});

/** Quality over the items that have one value of a field in common. */
export const breakdownPart = object({
  field: z.enum(['userKind', 'category', 'phrasing', 'language']),
  value: z.string(),
  /** Turns that gave an answer. */
  n: z.number(),
  /** Null where a metric is defined of none of the items: `exactMatch` of absent ones, `abstention` of answerable ones. */
  metrics: z
    .object({
      exactMatch: metric,
      taskSuccess: metric,
      /** By language alone, as the two below. */
      tokenF1: metric.exactOptional(),
      memoryRecall: metric.exactOptional(),
      abstention: metric.exactOptional(),
    })
    // The primary metric, where it is another, and log-probabilities by category.
    .catchall(metric)
    .readonly(),
  /** Of categories: task success less that of the baseline, paired by item; missing of the baseline, and in older runs. */
  difference: object({
    against: z.string(),
    delta: z.number(),
    low: lowerBound,
    high: upperBound,
    n: z.number(),
    users: z.number(),
    wins: z.number(),
    losses: z.number(),
  }).exactOptional(),
});

/** The part of retrieval for a user: it gave every memory that there was, in all turns, or selected in some. */
const retrievalKind = z.enum(['everything', 'selection']);

/** The turns of the users of one kind. */
const retrievalPart = object({
  kind: retrievalKind,
  users: count,
  /** Those of them with a cache hit of the primary arm. */
  usersWithHits: count,
  turns: count,
  hits: count,
  costHit: cost.nullable(),
  costAll: cost.nullable(),
});

/** One arm over all its turns. */
export const armResults = object({
  arm: z.string(),
  /** As they are stored with the run. */
  traits: armTraits,
  /** Turns that gave an answer. */
  n: count,
  errors: count,
  /** Quality over all items; `ttftMs` and `totalMs` over the cache hits. Null where nothing is defined or known. */
  metrics: qualityEstimates.extend({ ttftMs: metric, totalMs: metric }).readonly(),
  breakdown: list(breakdownPart),
  /**
   * Against the text of the baseline: the share of items with the same answer to the letter, and of `n` items those that
   * are right there and wrong here (`lost`), and the other way (`won`). Missing of the baseline, and in older runs.
   */
  fidelity: object({ against: z.string(), sameAnswer: estimate, n: count, lost: count, won: count }).exactOptional(),
  /** Means a turn over the cache hits; null without one. */
  tokens: tokenMeans.nullable(),
  /** Counts. An arm that injects nothing has the hits and misses of the primary arm on the same items. */
  turns: object({ hit: count, miss: count, bypass: count }),
  costHit: cost.nullable(),
  costMiss: cost.nullable(),
  costAll: cost.nullable(),
  /** The same by what retrieval did for the user; missing without a primary arm, and in older runs. */
  byRetrieval: list(retrievalPart).exactOptional(),
  /**
   * Tokens evaluated and time taken before turns, when memories were added: means a turn over all turns, in no other
   * number. Missing for arms that do nothing ahead.
   */
  ahead: object({ tokens: z.number(), ms: z.number() }).exactOptional(),
  /** Cache hits ÷ turns that injected memories; null for arms that keep no KV. */
  hitRate: z.number().nullable(),
  /** Wrong answers by class; null where quality is unknown. */
  wrong: z.record(z.enum(wrongClasses), count).readonly().nullable(),
  /** Answerable items that reach each stage of the evidence funnel; `answered` is null where quality is unknown. */
  funnel: object({
    stored: count,
    retrieved: count,
    kept: count,
    sequence: count,
    answered: count.nullable(),
  }),
});

export type QualityEstimates = Readonly<z.output<typeof qualityEstimates>>;
export type TokenMeans = z.output<typeof tokenMeans>;
export type PhaseMeans = z.output<typeof phaseMeans>;
export type Cost = z.output<typeof cost>;
export type RetrievalKind = z.output<typeof retrievalKind>;
export type BreakdownPart = z.output<typeof breakdownPart>;
/** Means of one arm over its turns, with intervals over users. */
export type ArmResults = z.output<typeof armResults>;

export const verdict = z.enum([
  'identical',
  'kept',
  'lost',
  'undecided',
  'within A/A noise',
  'faster',
  'slower',
  'fewer',
  'more',
  /** Fewer than ten: they stand for nobody else. */
  'too few users',
  /** No test of it was planned. */
  'not judged',
]);

/** Costs that are compared beside metrics of quality: over the cache hits of the primary arm, and over all turns. */
export const costNames = ['ttftLogRatio', 'evaluatedTokens', 'ttftLogRatioAll', 'evaluatedTokensAll'] as const;

/** An arm against another, paired by item: quality against the baseline, costs against this and against prefix caching. */
export const comparison = object({
  a: z.string(),
  b: z.string(),
  /** The name of a metric of quality, the primary one first; or one of `costNames`. */
  metric: z.string(),
  /** Mean of a − b, in the unit of the metric (a share of 1 for `%`); for log-ratios of ln(a ÷ b). */
  delta: z.number(),
  /** 95 % interval over users; over the questions of a single one. */
  low: lowerBound,
  high: upperBound,
  /** Of costs: means of both over the same turns, geometric of times (ms). Missing in older runs. */
  means: object({ a: z.number(), b: z.number() }).exactOptional(),
  /** Items. */
  n: z.number(),
  users: z.number(),
  /** Two-sided, sign-flip over users; null where no test was planned. */
  p: z.number().nullable(),
  /** Holm over the planned comparisons of this metric; null for others. */
  pAdjusted: z.number().nullable(),
  /** One-sided p of "the loss is the margin or more", Holm over the same; null for costs and for others. */
  pKept: z.number().nullable().default(null),
  verdict,
  /**
   * The smallest true difference that these items would show four times in five; null where no pair differs, and where
   * nothing is tested.
   */
  detectable: z.number().nullable(),
  /** Items with which arms that do not differ would be called kept four times in five; where undecided and known. */
  neededItems: z.number().exactOptional(),
  /** Items on which `a` has the better value, the worse, the same. */
  wins: z.number(),
  losses: z.number(),
  ties: z.number(),
});

export type Verdict = z.output<typeof verdict>;
/** Two arms compared by one metric, over the same items. */
export type Comparison = z.output<typeof comparison>;
export type CostName = (typeof costNames)[number];

/** One arm under one condition, over all its turns there, or over those whose evidence lies in one third of the memories. */
export const conditionResults = object({
  arm: z.string(),
  /** As the data set gives it: the share of the window, the number of memories, the depth of the conversation. */
  condition: z.number(),
  /** Place of the evidence among the memories, by creation; null for all items. */
  place: z.enum(['early', 'middle', 'late']).nullable(),
  n: z.number(),
  errors: z.number(),
  metrics: qualityEstimates.extend({ ttftMs: estimate.nullable() }).readonly(),
  phasesMs: phaseMeans,
  tokens: tokenMeans,
  /** Means a turn: memories that the user had, that were retrieved, that fitted, that did not, and tokens of those that did. */
  memories: z.record(z.enum(['stored', 'retrieved', 'kept', 'dropped', 'tokens']), z.number()).readonly(),
  /** Turns whose question alone was left of the prompt. */
  forced: z.number(),
});

const crossing = {
  arm: z.string(),
  /** Of a turn that computes its KV, and of one that finds it. */
  missMs: z.number(),
  hitMs: z.number(),
  /** The first turn with one set of memories after which the sum is no longer above that of the text; null for never. */
  turn: z.number().nullable(),
  /** 95 % interval over users; null stands for never. */
  low: z.number().nullable(),
  high: z.number().nullable(),
};

/** As older runs have it: against `rag`, which was taken at one mean over both. */
const olderBreakEven = z
  .object({ ...crossing, ragMs: z.number() })
  .transform(({ ragMs, ...rest }) => ({ ...rest, against: 'rag', textMissMs: ragMs, textHitMs: ragMs }));

/** The cost of keeping KV at first and its savings later, in time to the first token, against an arm of text. */
export const breakEven = z.union([
  z.object({
    ...crossing,
    /** The baseline, or the arm of prefix caching. */
    against: z.string(),
    /** Of that arm, on the items of the misses and on those of the hits. */
    textMissMs: z.number(),
    textHitMs: z.number(),
  }),
  olderBreakEven,
]);

export type ConditionResults = z.output<typeof conditionResults>;
export type BreakEven = Readonly<z.output<typeof breakEven>>;

/** Kinds of methods, by what each saves, or spends to win quality back. */
const methodKind = z.enum(['reference', 'made', 'recomputed', 'evicted', 'quantised']);

const paired = {
  delta: z.number(),
  /** 95 % interval over users. */
  low: lowerBound,
  high: upperBound,
  n: z.number(),
  users: z.number(),
};

/** The place of the evidence among the retrieved, where it was retrieved: that of the memory which came last. */
export const evidenceRanks = ['first', 'second', 'later'] as const;

/** One arm of the suite `methods`: a method at a budget, beside the text and beside tokens drawn at random. */
export const methodResults = object({
  arm: z.string(),
  /** The name without its budget. */
  method: z.string(),
  kind: methodKind,
  /** As the name spells it: the share of tokens that is recomputed or dropped, tokens of each block, the type of the store. */
  budget: z.string().nullable(),
  /** KV as it is kept, for each token of the memory lines, the header apart; null where nothing is kept. */
  bytesPerMemoryToken: z.number().nullable(),
  /** Means a turn, over the turns of the columns of cost: what was evaluated again, and of it what the rule asked for. */
  recomputedTokens: z.number(),
  selectedTokens: z.number().nullable(),
  /** Time to first token ÷ that of the primary arm less its `kvLoad`, geometric mean over pairs; null without a cache hit. */
  timesQueryOnly: estimate.nullable(),
  /** The primary metric less that of as many tokens drawn at random; null where no such arm ran, and for that arm itself. */
  againstRandom: object({
    b: z.string(),
    ...paired,
    wins: z.number(),
    losses: z.number(),
    ties: z.number(),
    /** Two-sided, sign-flip over users, and over the family of all methods (Holm); null for a bound that nobody can deploy. */
    p: z.number().nullable(),
    pAdjusted: z.number().nullable(),
    outcome: z.enum(['better', 'worse', 'undecided', 'too few users', 'not tested']),
  }).nullable(),
  /** The primary metric by the retriever's rank of the evidence, and less that of the baseline; without ranks that no item has. */
  byRank: list(
    object({
      rank: z.enum(evidenceRanks),
      quality: estimate,
      /** Null for the baseline, and without it. */
      difference: object(paired).nullable(),
    }),
  ),
});

export type EvidenceRank = (typeof evidenceRanks)[number];
export type MethodResults = z.output<typeof methodResults>;

/**
 * The results of a run: the document that `results.json` and `--json` hold, and from which tables and figures are drawn.
 * Every number is computed from the stored turns of the run.
 *
 * @see docs/results.md
 */
export const runResults = object({
  schemaVersion: z.literal(schemaVersion),
  run: runDescription,
  arms: list(armResults),
  comparisons: list(comparison),
  checks: list(checkResult),
  /** Each arm under each condition that the suite's data vary; empty where they vary none. */
  conditions: list(conditionResults),
  /** The turn from which on KV pays, by arm; empty without arms that keep KV. */
  breakEven: list(breakEven),
  /** Measurements of the suite beside turns; null where it measures turns alone. */
  measured: measured.nullable(),
  /** The arms as methods at a budget; missing but in the suite `methods`. */
  methods: list(methodResults).exactOptional(),
  /** A judge's agreement with `contains`; missing where none was asked. */
  judge: judgeResults.exactOptional(),
});

/** The document `results.json` of one run. */
export type RunResults = z.output<typeof runResults>;
