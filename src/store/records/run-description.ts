import { z } from 'zod';
import { list, object } from './schemas.ts';

/** A kind of machine, with the build of its engine, and the users whose turns it took. */
export const machineKind = object({
  platform: z.string(),
  cpu: z.string(),
  cores: z.number(),
  threads: z.number(),
  engine: z.string(),
  /** Versions and options of the engine's build. */
  build: z.record(z.string(), z.string()).readonly(),
  /** Ids of the users. */
  users: list(z.string()),
  turns: z.number(),
});

export type MachineKind = z.output<typeof machineKind>;

/** A metric's declaration; comparisons, verdicts, tables and figures follow this, and no name. */
export const metricDeclaration = object({
  /** For programs: `contains`. */
  name: z.string(),
  /** For readers: the heading of its column. */
  label: z.string(),
  /** `binary`: 0 or 1 of each turn. */
  kind: z.enum(['binary', 'continuous']),
  /** `%`: values are shares from 0 to 1, shown as percentages, and differences in points; any other is shown as it is. */
  unit: z.string(),
  /** Defined of items that nothing answers, as of the others; missing of a metric that needs a gold. */
  ofAbsent: z.literal(true).exactOptional(),
  /** The better value. */
  direction: z.enum(['higher', 'lower']),
  /** A loss that still counts as kept: in points where the unit is `%`, else in the unit. */
  margin: z.number(),
});

export type MetricDeclaration = z.output<typeof metricDeclaration>;

/** A kind of machine that took turns of a run, and how many users it asked. */
export const usedMachine = machineKind.unwrap().extend({ users: z.number() }).readonly();

/** A test whether users of one kind of machine have other values than users of another. */
export const machineDifference = object({
  arm: z.string(),
  /** The primary metric, or `ttftLogRatioAll`: first tokens against the baseline's, paired within a user. */
  metric: z.string(),
  /** By kind of machine, in the order of `machines`; null where none of its users has a value. */
  means: list(z.number().nullable()),
  /** Of 10,000 exchanges of users between the machines. */
  p: z.number(),
  /** Holm, over all tests of machines. */
  pAdjusted: z.number(),
});

export type MachineDifference = z.output<typeof machineDifference>;

const counts = z.record(z.string(), z.number()).readonly();
const facts = z.record(z.string(), z.unknown()).readonly();

export const modelDescription = object({
  name: z.string(),
  sha256: z.string(),
  /** Null where the engine does not show it. */
  parameters: z.number().nullable(),
  contextTokens: z.number(),
  /** Cells of one sequence: more than its positions where blocks may share these. */
  cellTokens: z.number(),
});

export const embedderDescription = object({
  name: z.string(),
  sha256: z.string(),
  /** Name and version of what evaluated it; older runs did not write it. */
  runtime: z.string().exactOptional(),
});

/** A data set's note; missing where it has none. */
const declaration = {
  /** Metric that verdicts are on; of several data sets, the one that all name. Missing where it is `exactMatch`. */
  primaryMetric: z.string().exactOptional(),
  split: z.enum(['development', 'test']).exactOptional(),
  licence: z.string().exactOptional(),
  /** Its texts stand in no report. */
  texts: z.literal('withheld').exactOptional(),
  /** A sentence that a reader of any result must know. */
  note: z.string().exactOptional(),
  /** Of a public data set: the file that was brought, and published errata, by the hash of their bytes. */
  brought: object({ sha256: z.string(), errataSha256: z.string().exactOptional() }).exactOptional(),
};

/** One of several data sets of a run. */
export const datasetPart = object({
  name: z.string(),
  sha256: z.string(),
  language: z.enum(['en', 'zh']),
  items: z.number(),
  users: z.number(),
  ...declaration,
});

export const datasetDescription = object({
  name: z.string(),
  sha256: z.string(),
  items: z.number(),
  users: z.number(),
  /** Answerable items whose evidence the data do not name; missing where there is none. */
  withoutEvidence: z.number().exactOptional(),
  /** Items by kind of user, category and phrasing: `{ recurring: 200, large: 200 }` and so on. */
  counts: object({ userKind: counts, category: counts, phrasing: counts }),
  /** The data sets that were asked together, with the items of each; missing where it is one. */
  parts: list(datasetPart).exactOptional(),
  ...declaration,
});

export const retrieverDescription = object({
  name: z.string(),
  backend: z.string(),
  version: z.string(),
  /** Places of hot and cold memory, for the strategy that has both. */
  tiers: object({ hot: z.string(), cold: z.string() }).exactOptional(),
  /** Rules by which questions are prepared, for the strategy that prepares them. */
  preRetrieval: z.unknown().optional(),
});

/** Milliseconds of a run by what they were spent on; `checks` are the self-tests and the probes. */
const spent = object({
  warmUp: z.number(),
  turns: z.number(),
  /** Observation of turns: gold answers, parity, distributions. */
  scoring: z.number(),
  checks: z.number(),
  /** Measurements of the suite beside turns. */
  measure: z.number(),
  /** A judge's answers, waiting included; missing where none was asked. */
  judge: z.number().exactOptional(),
});

/**
 * Prompt tokens that the engine evaluated over all its sessions, by what they were spent on as in `spent`; `prepared` before
 * turns: KV ahead, questions for retrieval. `unbooked`: at a time when nothing of this was done.
 */
const evaluatedTokens = object({
  warmUp: z.number(),
  turns: z.number(),
  prepared: z.number(),
  scoring: z.number(),
  checks: z.number(),
  measure: z.number(),
  unbooked: z.number(),
});

/** Wall time, ms, over all sessions of the run: `modelMs` inside the engine, loading included. */
export const profile = object({
  wallMs: z.number(),
  modelMs: z.number(),
  embedderMs: z.number(),
  coldStartMs: z.number(),
  /** Missing in older runs. */
  spent: spent.exactOptional(),
  /** Null where the engine does not count them; missing in older runs. */
  evaluatedTokens: evaluatedTokens.nullable().exactOptional(),
});

/** Ids that differ between tokenising each segment alone and tokenising the joined text. */
export const tokenisation = object({ prompts: z.number(), tokens: z.number(), differing: z.number() });

/**
 * KV that was kept, by arm, as its store counts: hits and evictions since the last start of the run, bytes and entries as
 * the last user left them; of several workers, the sum.
 */
export const kvStores = z.record(z.string(), facts).readonly();

/** An arm of a suite that did not run, and the reason in one line. */
export const armNotRun = object({ arm: z.string(), why: z.string() });

/** The run behind the results: its models, data and machine, by name and hash. */
export const runDescription = object({
  id: z.string(),
  name: z.string(),
  suite: z.string(),
  seed: z.number(),
  status: z.enum(['finished', 'running', 'interrupted', 'failed']),
  /** Of an unfinished run: users whose turns are all there, turns that are written, and how many there shall be. */
  progress: object({ users: z.number(), ofUsers: z.number(), turns: z.number(), ofTurns: z.number() }).exactOptional(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  model: modelDescription,
  embedder: embedderDescription,
  dataset: datasetDescription,
  /** The reason why all values of quality are null and not compared; null where they are given. */
  unknownQuality: z.string().nullable(),
  /** `stats` as the retriever counts, after the last user. */
  retriever: retrieverDescription.unwrap().extend({ stats: facts }).readonly(),
  environment: facts,
  /** The options that the turns depend on. */
  settings: facts,
  /** Metrics of the calling program; missing without any. */
  metrics: list(metricDeclaration).exactOptional(),
  /** Arms of the suite that the model could not run. */
  armsNotRun: list(armNotRun),
  profile,
  tokenisation,
  kvStores,
  /** Notes a reader must see: fallbacks, shared stores, a dirty work tree. */
  notes: list(z.string()),
  /** Processes that took turns at one time: times are under load. Missing where one took all. */
  workers: z.number().exactOptional(),
  /** Of a run that was put together: the kinds of machine that took its turns. */
  machines: list(usedMachine).exactOptional(),
  /** Tests for a difference between several; missing of one. */
  machineDifferences: list(machineDifference).exactOptional(),
});

export type EvaluatedTokens = z.output<typeof evaluatedTokens>;
export type DatasetPart = z.output<typeof datasetPart>;
export type ArmNotRun = z.output<typeof armNotRun>;
/** The circumstances of a run: model, data, settings, machine, notes. */
export type RunDescription = z.output<typeof runDescription>;
