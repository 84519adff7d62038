import { z } from 'zod';
import { armTraits } from './arm-traits.ts';
import { estimate, lowerBound, paired, upperBound } from './estimate.ts';
import { measured } from './suite-measurements.ts';
import { contrastResults } from './planned-contrast.ts';
import { runDescription } from './run-description.ts';
import { schemaVersion } from './schema-version.ts';
import { list, numbers, object, texts } from './zod-helpers.ts';
import { formerWrongClasses, timings, tokenCounts, wrongClasses } from './turn-record.ts';

// docs/results.md describes every field; the comments here say what types alone do not.

const count = z.number();

/** The checks of a run, in the order in which they are shown. */
export const checkNames = [
  'token identity',
  'token accounting',
  'reuse',
  'cells',
  'numerical parity',
  'answers',
  'same memories',
  'data',
  'scores',
  'retrieval',
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

export const checkResult = object({
  check: z.enum(checkNames),
  /** `undecided`: these arms, this model or this n cannot decide it. */
  status: z.enum(['passed', 'failed', 'undecided']),
  /** One line that a reader can verify; the reason if undecided. */
  evidence: z.string(),
  /** The smallest effect that a passed check would have seen at this size: `1 turn of 480`; missing in older runs. */
  detects: z.string().exactOptional(),
});

export type CheckName = (typeof checkNames)[number];
/** The outcome of one check of a run, with its evidence. */
export type CheckResult = z.output<typeof checkResult>;

/** A judge's work on a run; its verdicts are in the turns. */
export const judgeProbe = object({
  ...texts('model', 'prompt'),
  /** The prompt about a point of an answer; missing if no item has nuggets. */
  rubricPrompt: z.string().exactOptional(),
  /** Distinct answers and points that were sent to the judge, and those with a stored verdict. */
  asked: count,
  known: count,
  /** Answers without a verdict, by reason; `first` is the message of the first. */
  failed: list(object({ reason: z.string(), answers: count, first: z.string() })),
});

export const verdictAgreement = object({
  n: count,
  share: z.number(),
  /** Cohen's kappa; null if both give every answer the same verdict. */
  kappa: z.number().nullable(),
});

/** A judge in the results of a run: its verdicts are the metric `judge` of each arm. */
export const judgeResults = judgeProbe
  .unwrap()
  .extend({
    /** Agreement with metric `contains` over all arms; null without an answer that both judge. */
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
 * Means of the built-in metrics, each over the items for which it is defined: shares from 0 to 1, log-probabilities in nats, and
 * agreement with the reference. Metrics of the calling program follow by name.
 */
export const qualityEstimates = z
  .object({
    exactMatch: metric,
    squadExactMatch: added,
    contains: added,
    tokenF1: metric,
    locomoF1: added,
    memoryRecall: metric,
    abstention: metric,
    taskSuccess: metric,
    /** Answers with a superseded value and without the gold, over the items that have one. */
    superseded: added,
    rougeL: metric,
    bleu: metric,
    /** Of items with nuggets, by the judge; and ln p per token of the nuggets. */
    rubric: added,
    nuggetLogProb: added,
    goldLogProb: added,
    goldKl: added,
    goldLogProbability: metric,
    freeLogProbability: metric,
    klDivergence: metric,
    topOneAgreement: metric,
  })
  .catchall(metric);

/** Means per turn, ms: TTFT, its parts, and decoding. */
export const phaseMeans = timings.unwrap().omit({ total: true }).readonly();

export const cost = object({
  turns: count,
  tokens: tokenCounts,
  phasesMs: phaseMeans,
  ttftMs: estimate,
  totalMs: estimate,
});

/** Quality over the items that share one value of a field. */
const breakdownPart = object({
  field: z.enum(['userKind', 'category', 'phrasing', 'language']),
  value: z.string(),
  /** Answered turns. */
  n: count,
  /** Null if a metric is defined for none of the items. */
  metrics: z
    .object({
      exactMatch: metric,
      taskSuccess: metric,
      // Only for field `language`.
      tokenF1: metric.exactOptional(),
      memoryRecall: metric.exactOptional(),
      abstention: metric.exactOptional(),
      // Only where items have superseded values.
      superseded: metric.exactOptional(),
      // Only for field `category`.
      goldLogProb: metric.exactOptional(),
    })
    // Also the primary metric, if it is none of these.
    .catchall(metric)
    .readonly(),
  /** Only for categories: task success minus the baseline's, paired by item. Missing for the baseline, and in older runs. */
  difference: object({ against: z.string(), ...paired, wins: count, losses: count }).exactOptional(),
  /** Likewise, ln p per token of the gold; also missing where it was not scored. */
  goldDifference: object(paired).exactOptional(),
});

/** What retrieval did for a user: it returned every memory in all turns, or selected some in at least one. */
const retrievalKind = z.enum(['everything', 'selection']);

/** The turns of the users of one kind; hits are those of the primary arm. */
const retrievalPart = object({
  kind: retrievalKind,
  ...numbers('users', 'usersWithHits', 'turns', 'hits'),
  costHit: cost.nullable(),
  costAll: cost.nullable(),
});

/** Counts by class of a report, under the names that the classes have now. */
function withPresentNames(counts: unknown): unknown {
  if (typeof counts !== 'object' || counts === null) return counts;
  return Object.fromEntries(
    Object.entries(counts).map(([name, of]) => [formerWrongClasses[name] ?? name, of as unknown]),
  );
}

export const armResults = object({
  arm: z.string(),
  traits: armTraits,
  /** Answered turns. */
  n: count,
  errors: count,
  /** Quality over all items; `ttftMs` and `totalMs` over the cache hits. Null where undefined or unknown. */
  metrics: qualityEstimates.extend({ ttftMs: metric, totalMs: metric }).readonly(),
  breakdown: list(breakdownPart),
  /**
   * Answers compared with the baseline's: share of items with exactly the same answer, and of `n` items those that only the
   * baseline (`lost`) or only this arm (`won`) gets right. Missing for the baseline, and in older runs.
   */
  fidelity: object({ against: z.string(), sameAnswer: estimate, n: count, lost: count, won: count }).exactOptional(),
  /** Means over the cache hits; null without one. */
  tokens: tokenCounts.nullable(),
  /** The arm's own, which sum to `n`; in older runs, those of the primary arm for an arm that injects nothing. */
  turns: object(numbers('hit', 'miss', 'bypass')),
  costHit: cost.nullable(),
  costMiss: cost.nullable(),
  costAll: cost.nullable(),
  /** Missing without a primary arm, and in older runs. */
  byRetrieval: list(retrievalPart).exactOptional(),
  /** Work before turns, when memories were added: means over all turns, counted nowhere else. Missing for arms without any. */
  ahead: object(numbers('tokens', 'ms')).exactOptional(),
  /** Cache hits ÷ turns that injected memories; null for arms that store no KV. */
  hitRate: z.number().nullable(),
  /** Wrong answers by class; null where quality is unknown. */
  wrong: z.preprocess(withPresentNames, z.record(z.enum(wrongClasses), count).readonly().nullable()),
  /** Answerable items that reach each stage of the evidence funnel; `answered` is null where quality is unknown. */
  funnel: object({ ...numbers('stored', 'retrieved', 'kept', 'sequence'), answered: count.nullable() }),
});

export type QualityEstimates = Readonly<z.output<typeof qualityEstimates>>;
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
  /** Fewer than ten users. */
  'too few users',
  /** No test was planned. */
  'not judged',
]);

/** Costs that are compared besides metrics of quality: over the cache hits of the primary arm, and (`…All`) over all turns. */
export const costNames = ['ttftLogRatio', 'evaluatedTokens', 'ttftLogRatioAll', 'evaluatedTokensAll'] as const;

/** Two-sided p of McNemar's test, exact and mid-p, over items taken as independent. */
const mcnemar = object(numbers('exact', 'midP'));
export type McNemar = z.output<typeof mcnemar>;

/** Arm `a` against arm `b`, paired by item: quality against the baseline, costs against baseline and prefix caching. */
export const comparison = object({
  ...texts('a', 'b'),
  /** A metric of quality, the primary one first; or one of `costNames`. */
  metric: z.string(),
  /** Mean of a − b in the unit of the metric (1 is 100 %); for log-ratios, mean of ln(a ÷ b). */
  delta: z.number(),
  /** 95 % interval over users, or over the questions of a single user. */
  low: lowerBound,
  high: upperBound,
  /** Only for costs: means of both arms over the same turns, geometric for times (ms). Missing in older runs. */
  means: object(numbers('a', 'b')).exactOptional(),
  /** `n` items, and those on which `a` is better, worse, equal. */
  ...numbers('n', 'users', 'wins', 'losses', 'ties'),
  /** Two-sided, sign-flip over users; null if no test was planned. */
  p: z.number().nullable(),
  /** `p` with Holm's correction over the planned comparisons of this metric; else null. */
  pAdjusted: z.number().nullable(),
  /** One-sided p of "the loss is the margin or more", corrected in the same way; null for costs and without a planned test. */
  pKept: z.number().nullable().default(null),
  /** Beside `p`, for a metric of 0 and 1 with a planned test; missing in older runs. */
  mcnemar: mcnemar.exactOptional(),
  verdict,
  /** The smallest true difference that these items show with power 0.8; null if no pair differs or nothing is tested. */
  detectable: z.number().nullable(),
  /** Items needed to call equal arms `kept` with power 0.8; only if undecided and known. */
  neededItems: z.number().exactOptional(),
});

export type Verdict = z.output<typeof verdict>;
/** Two arms compared by one metric, over the same items. */
export type Comparison = z.output<typeof comparison>;
export type CostName = (typeof costNames)[number];

/** One arm under one condition, over all turns, or over those with evidence in one third of the memories. */
export const conditionResults = object({
  arm: z.string(),
  /** As the data set gives it: the share of the window, the number of memories, the depth of the conversation. */
  condition: z.number(),
  /** Third of the memories, by time of creation, that contains the evidence; null for all items. */
  place: z.enum(['early', 'middle', 'late']).nullable(),
  n: count,
  errors: count,
  metrics: qualityEstimates.extend({ ttftMs: metric }).readonly(),
  phasesMs: phaseMeans,
  tokens: tokenCounts,
  /** Means per turn. */
  memories: z.record(z.enum(['stored', 'retrieved', 'kept', 'dropped', 'tokens']), z.number()).readonly(),
  /** Turns whose prompt was cut down to the question. */
  forced: count,
});

/** The turn at which stored KV has paid off in TTFT, against a text arm. */
export const breakEven = z.object({
  arm: z.string(),
  /** The baseline, or the arm of prefix caching. */
  against: z.string(),
  /** Mean TTFT of a cache miss, and of a cache hit; and that of the text arm on the items of the misses, and of the hits. */
  ...numbers('missMs', 'hitMs', 'textMissMs', 'textHitMs'),
  /** The first turn on one set of memories at which total TTFT is no longer above the text's; null for never. */
  turn: z.number().nullable(),
  /** 95 % interval over users; null stands for never. */
  low: z.number().nullable(),
  high: z.number().nullable(),
});

export type ConditionResults = z.output<typeof conditionResults>;
export type BreakEven = Readonly<z.output<typeof breakEven>>;

/** Kinds of methods, by what they save or spend. */
const methodKind = z.enum(['reference', 'made', 'recomputed', 'evicted', 'quantised']);

/** Rank of the lowest-ranked evidence memory among the retrieved ones. */
export const evidenceRanks = ['first', 'second', 'later'] as const;

/** One arm of suite `methods`: a method at one budget, compared with text and with random tokens. */
export const methodResults = object({
  arm: z.string(),
  /** The name without its budget. */
  method: z.string(),
  kind: methodKind,
  /** As in the name: the share of tokens that is recomputed or dropped, tokens per block, the type of the store. */
  budget: z.string().nullable(),
  /** Stored bytes per token of the memory lines, without the header; null where no KV is stored. */
  bytesPerMemoryToken: z.number().nullable(),
  /** Means over the turns on which costs are measured, null without one: recomputed tokens, and how many of them the rule selected. */
  recomputedTokens: z.number().nullable(),
  selectedTokens: z.number().nullable(),
  /** TTFT ÷ (the primary arm's TTFT − its `kvLoad`), geometric mean over pairs; null without a cache hit. */
  timesQueryOnly: estimate.nullable(),
  /** The primary metric minus that of the arm with as many random tokens; null without such an arm, and for it. */
  againstRandom: object({
    b: z.string(),
    ...paired,
    ...numbers('wins', 'losses', 'ties'),
    /** Two-sided, sign-flip over users; adjusted by Holm over all methods. Null for arms that cannot be deployed. */
    p: z.number().nullable(),
    pAdjusted: z.number().nullable(),
    outcome: z.enum(['better', 'worse', 'undecided', 'too few users', 'not tested']),
  }).nullable(),
  /** The primary metric by rank of the evidence; `difference` to the baseline, null for the baseline and without one. */
  byRank: list(object({ rank: z.enum(evidenceRanks), quality: estimate, difference: object(paired).nullable() })),
});

export type EvidenceRank = (typeof evidenceRanks)[number];
export type MethodResults = z.output<typeof methodResults>;

/** One arm of suite `multi-turn`, over all turns on the contexts. Quality by turn is in `conditions`. */
export const multiTurnResults = object({
  arm: z.string(),
  /** Mean bytes of the memories' KV in a prompt, as stored, without the header; null for text. */
  promptBytes: z.number().nullable(),
  /** Mean evicted tokens that came back with their whole blocks; null for arms that repair none. */
  repairedTokens: z.number().nullable(),
  /** The primary metric on the last turn minus that on the first, paired by user; null where it is not known. */
  change: object(paired).nullable(),
});
export type MultiTurnResults = z.output<typeof multiTurnResults>;

/**
 * The results of a run: the document that `results.json` and `--json` hold, and from which tables and figures are
 * drawn. Every number is computed from the stored turns of the run.
 * @see docs/results.md
 */
export const runResults = object({
  schemaVersion: z.literal(schemaVersion),
  run: runDescription,
  arms: list(armResults),
  comparisons: list(comparison),
  checks: list(checkResult),
  conditions: list(conditionResults),
  breakEven: list(breakEven),
  /** Null if the suite measures only turns. */
  measured: measured.nullable(),
  /** Only in suite `methods`. */
  methods: list(methodResults).exactOptional(),
  /** Only in suite `multi-turn`. */
  multiTurn: list(multiTurnResults).exactOptional(),
  /** Only if the data plan one. */
  contrast: contrastResults.exactOptional(),
  /** Only with `--judge`. */
  judge: judgeResults.exactOptional(),
});

/** The document `results.json` of one run. */
export type RunResults = z.output<typeof runResults>;
