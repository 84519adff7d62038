import { z } from 'zod';
import { safeRecord } from '../../base/prototype-safe-records.ts';
import { plannedContrast } from './planned-contrast.ts';
import { list, numbers, object, texts } from './zod-helpers.ts';

const count = z.number();
const counts = safeRecord(z.number());
const facts = z.record(z.string(), z.unknown()).readonly();

/** A kind of machine, with the build of its engine, and the users whose turns it ran. */
export const machineKind = object({
  ...texts('platform', 'cpu'),
  ...numbers('cores', 'threads', 'turns'),
  engine: z.string(),
  /** Versions and options of the engine's build. */
  build: z.record(z.string(), z.string()).readonly(),
  users: list(z.string()),
});
export type MachineKind = z.output<typeof machineKind>;

/** The declaration of a metric, which comparisons, verdicts, tables and figures follow. */
export const metricDeclaration = object({
  /** For programs: `contains`. */
  name: z.string(),
  /** For readers: the heading of its column. */
  label: z.string(),
  /** `binary`: 0 or 1 for each turn. */
  kind: z.enum(['binary', 'continuous']),
  /** `%`: values are shares from 0 to 1, shown as percentages, and differences in points; any other is shown as it is. */
  unit: z.string(),
  /** Also defined for items that no memory answers; missing for metrics that need a gold answer. */
  ofAbsent: z.literal(true).exactOptional(),
  direction: z.enum(['higher', 'lower']),
  /** The largest loss at which quality still counts as kept: in points if the unit is `%`, else in the unit. */
  margin: z.number(),
});
export type MetricDeclaration = z.output<typeof metricDeclaration>;

/** How the turns of a run are scored. */
export const metricFields = {
  /** Metrics of the calling program; missing without any. */
  metrics: list(metricDeclaration).exactOptional(),
  /** Version of the rules of metrics; missing in older runs, made with version 1. */
  metricsVersion: z.literal([1, 2, 3]).exactOptional(),
};

export const modelDescription = object({
  ...texts('name', 'sha256'),
  /** Null if the engine does not report it. */
  parameters: z.number().nullable(),
  contextTokens: z.number(),
  /** Cells of one sequence; more than `contextTokens` if blocks can share positions. */
  cellTokens: z.number(),
});

export const embedderDescription = object({
  ...texts('name', 'sha256'),
  /** Name and version of the library that evaluated it; missing in older runs. */
  runtime: z.string().exactOptional(),
});

/** What a data set declares about itself. */
const declaration = {
  /** The metric for verdicts. Missing if it is `exactMatch`, or if several data sets name different ones. */
  primaryMetric: z.string().exactOptional(),
  /** Missing if several data sets plan different ones. */
  plannedContrast: plannedContrast.exactOptional(),
  split: z.enum(['development', 'test']).exactOptional(),
  licence: z.string().exactOptional(),
  /** Reports contain none of its texts. */
  texts: z.literal('withheld').exactOptional(),
  /** A sentence that a reader of any result must know. */
  note: z.string().exactOptional(),
  /** For an imported public data set: hashes of the file and of published errata. */
  brought: object({ sha256: z.string(), errataSha256: z.string().exactOptional() }).exactOptional(),
};

/** One of several data sets of a run. */
const datasetPart = object({
  ...texts('name', 'sha256', 'language'),
  ...numbers('items', 'users'),
  ...declaration,
});

export const datasetDescription = object({
  ...texts('name', 'sha256'),
  ...numbers('items', 'users'),
  /** Number of answerable items without named evidence; missing if 0. */
  withoutEvidence: count.exactOptional(),
  /** Items that twins and controls with another user's memories answer; missing if they answer all. */
  controlItems: count.exactOptional(),
  /** Items by value: `{ recurring: 200, large: 200 }` and so on. */
  counts: object({ userKind: counts, category: counts, phrasing: counts }),
  /** Missing for a single data set. */
  parts: list(datasetPart).exactOptional(),
  ...declaration,
});

export const retrieverDescription = object({
  ...texts('name', 'backend', 'version'),
  /** Addresses of the hot store and the cold store (long-term memory), only for strategy `tiered`. */
  tiers: object({ hot: z.string(), cold: z.string() }).exactOptional(),
  /** Configuration for preparing questions, only for strategy `hinted`. */
  preRetrieval: z.unknown().optional(),
});

/**
 * Milliseconds of a run by purpose: `scoring` observes turns (gold answers, parity, distributions), `checks` are self-tests and
 * probes, `measure` are measurements of the suite beside turns.
 */
const spent = object({
  ...numbers('warmUp', 'turns', 'scoring', 'checks', 'measure'),
  /** Waiting included; missing without a judge. */
  judge: z.number().exactOptional(),
});

/**
 * Prompt tokens that the engine evaluated over all its sessions, by purpose as in `spent`; `prepared`: before turns (KV ahead,
 * questions for retrieval); `unbooked`: between these phases.
 */
const evaluatedTokens = object(numbers('warmUp', 'turns', 'prepared', 'scoring', 'checks', 'measure', 'unbooked'));

/** Wall time, ms, over all sessions of the run: `modelMs` inside the engine, loading included. */
export const profile = object({
  ...numbers('wallMs', 'modelMs', 'embedderMs', 'coldStartMs'),
  /** Missing in older runs. */
  spent: spent.exactOptional(),
  /** Null if the engine does not count them; missing in older runs. */
  evaluatedTokens: evaluatedTokens.nullable().exactOptional(),
});

/** How many token ids differ between tokenising each segment alone and tokenising the joined text. */
export const tokenisation = object(numbers('prompts', 'tokens', 'differing'));

/** Counts of each arm's KV store since the last start of the run, summed over workers. */
export const kvStores = z.record(z.string(), facts).readonly();

/** An arm of a suite that did not run, and the reason in one line. */
export const armNotRun = object({ arm: z.string(), why: z.string() });

/** The run behind the results: its models, data and machine, by name and hash. */
export const runDescription = object({
  ...texts('id', 'name', 'suite'),
  seed: z.number(),
  status: z.enum(['finished', 'running', 'interrupted', 'failed']),
  /** Only for an unfinished run: users with complete turns, stored turns, and the totals. */
  progress: object(numbers('users', 'ofUsers', 'turns', 'ofTurns')).exactOptional(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  model: modelDescription,
  embedder: embedderDescription,
  dataset: datasetDescription,
  /** Why all quality metrics are null and not compared; null if they are known. */
  unknownQuality: z.string().nullable(),
  /** `stats`: the retriever's own counts after the last user. */
  retriever: retrieverDescription.unwrap().extend({ stats: facts }).readonly(),
  environment: facts,
  /** The options that the turns depend on. */
  settings: facts,
  ...metricFields,
  armsNotRun: list(armNotRun),
  /** Differences in ln p up to this are noise of the engine, by the self-test; missing in older runs. */
  logProbNoise: z.number().exactOptional(),
  profile,
  tokenisation,
  kvStores,
  /** What a reader must know: fallbacks, shared stores, a dirty work tree. */
  notes: list(z.string()),
  /** Number of processes that ran turns at the same time, so that times are under load; missing for one. */
  workers: count.exactOptional(),
  /** For merged runs. */
  machines: list(machineKind.unwrap().extend({ users: count }).readonly()).exactOptional(),
});

export type EvaluatedTokens = z.output<typeof evaluatedTokens>;
export type DatasetPart = z.output<typeof datasetPart>;
export type ArmNotRun = z.output<typeof armNotRun>;
/** The circumstances of a run: model, data, settings, machine, notes. */
export type RunDescription = z.output<typeof runDescription>;
