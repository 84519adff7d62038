import { z } from 'zod';
import {
  commaSeparated,
  describe,
  numeric,
  oneOf,
  path,
  runName,
  text,
  toBytes,
  toggle,
  wholeFrom,
} from './option-kinds.ts';
import { documentWeights, parseSalienceWeights, salienceSignals, writeSalienceWeights } from './salience-weights.ts';
import type { SystemPrompt } from './system-prompt.ts';
import { coldIndexNames, retrieverNames } from './retriever-names.ts';

/** The suites, in the order in which `all` runs them. */
export const suiteNames = [
  'main',
  'context',
  'ablation',
  'placement',
  'alpha',
  'latency',
  'coherence',
  'retrieval',
  'storage',
  'isolation',
  'scaling',
  'coreference',
  'methods',
  'serving',
] as const;

export type SuiteName = (typeof suiteNames)[number];

/** Devices that may compute a model: the CPU, the first accelerator that is found, or one interface to them. */
export const gpuNames = ['off', 'auto', 'cuda', 'vulkan', 'metal'] as const;
export type GpuName = (typeof gpuNames)[number];

export const onOff = ['off', 'on'] as const;

/** Options that only some engines have: each adapter says which are its own. */
export const engineOptionNames = [
  'gpu',
  'gpuLayers',
  'flashAttention',
  'engineUrl',
  'allowRemote',
  'engineModel',
  'slotsFolder',
  'llamaServer',
] as const;

/** Of these, where an engine is: no number depends on them. */
export const enginePlaceNames = ['engineUrl', 'slotsFolder', 'llamaServer'] as const;

/** An engine and its own options, as far as they are known. */
export type EngineChoice = Partial<Pick<BenchConfig, 'engine' | (typeof engineOptionNames)[number] | 'given'>>;

/** The model that a server has loaded, whichever it is. */
export const servedModel = 'served';

/** Prefix of models with random weights: the rest of the name is a shape. */
export const randomModelPrefix = 'random:';

/**
 * The options of the bench with their defaults and descriptions. Texts are read as numbers and booleans, so that a flag, an
 * environment variable and a value in the file mean the same.
 */
export const benchConfigSchema = z.strictObject({
  suite: describe(z.preprocess(commaSeparated, z.array(z.enum([...suiteNames, 'all'])).min(1)), {
    value: '<names>',
    help: 'suites to run, comma-separated, or "all"',
    allowed: 'comma-separated names',
    names: { kind: 'suite', known: [...suiteNames, 'all'] },
  }).default(['main']),
  arms: describe(z.preprocess(commaSeparated, z.array(z.string()).min(1)), {
    value: '<names>',
    help: 'arms to run, comma-separated',
    preset: 'all of the suite',
    allowed: 'comma-separated names',
  }).exactOptional(),
  dataset: describe(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]), {
    value: '<names|files>',
    help:
      'data sets to ask, comma-separated: names of shipped ones, names of public ones (locomo, musique-s, longmemeval)' +
      ' whose --data-file you bring, or files; each user is scored in their own language',
    allowed: 'comma-separated names or files',
  }).default('recall-en,recall-zh'),
  dataFile: describe(z.union([z.string().min(1), z.record(z.string(), z.string().min(1))]), {
    value: '<files>',
    help: 'file of a public data set as published; of several sets NAME=FILE, comma-separated',
    preset: 'data/NAME.json in the cache folder',
    allowed: 'a path, or NAME=FILE, comma-separated',
  }).exactOptional(),
  errata: path(
    '<file>',
    'published audit of --dataset locomo, JSON: corrects answers and citations, drops questions',
  ).exactOptional(),
  model: path(
    '<file>',
    'language model: a GGUF file, a name (recall-base, recall-block, smollm2-135m), hf:org/repo/file.gguf (fetched), or' +
      ' random:SHAPE (random weights)',
    'recall-base',
  ).exactOptional(),
  engine: describe(z.string().min(1), {
    value: '<name>',
    help: 'engine that runs the language model',
    allowed: 'the name of an engine',
  }).default('llama-cpp'),
  engineUrl: describe(z.string().min(1), {
    value: '<url>',
    help: 'address of the server that has loaded the model; --model then names what it has loaded, or its file',
    preset: 'none',
    allowed: 'an address',
  }).exactOptional(),
  allowRemote: toggle('ask an --engine-url of another machine: it is sent what users said').exactOptional(),
  engineModel: describe(z.string().regex(/\S/u), {
    value: '<name>',
    help: 'model that an OpenAI-compatible server is asked for, by its own name for it',
    preset: 'the only one',
    allowed: 'a name',
  }).exactOptional(),
  slotsFolder: path(
    '<dir>',
    'folder that a llama-server saves slots to: K/V goes in and out of it there, if --model is the file that it serves',
    'none',
  ).exactOptional(),
  llamaServer: path('<program>', 'llama-server to start for the run, and to end with it', 'none').exactOptional(),
  embedder: path(
    '<dir>',
    'embedding model: a folder with ONNX weights, a name (embed-en-zh, minilm), or hf:org/repo (fetched)',
    "the model's",
  ).exactOptional(),
  retriever: oneOf(
    'retriever',
    retrieverNames,
    'strategy that retrieves memories; given: the passages that each item lists, in their order',
  ).default('router'),
  hot: describe(z.string().min(1), {
    value: '<url>',
    help: 'working memory of --retriever tiered: redis://…',
    preset: 'in the process',
    allowed: 'an address',
  }).exactOptional(),
  cold: describe(z.string().min(1), {
    value: '<url>',
    help: 'long-term memory of --retriever tiered: postgres://… with pgvector',
    preset: 'a SQLite file, searched by FAISS',
    allowed: 'an address',
  }).exactOptional(),
  coldIndex: oneOf('index', coldIndexNames, 'vector index of --cold: exact, or approximate').default('ivfflat'),
  retrievalTokens: wholeFrom(0, '<n>', 'token budget of --retriever salience', '1500').exactOptional(),
  halfLife: describe(numeric(z.number().positive()), {
    value: '<days>',
    help: 'days after which a memory is half as recent for --retriever salience',
    preset: '30',
    allowed: 'a number of days above 0',
  }).exactOptional(),
  salienceWeights: describe(
    z.string().refine((given) => parseSalienceWeights(given) !== undefined),
    {
      value: '<weights>',
      help: 'weights of the signals of --retriever salience, signal=number; they sum to 1, and those not named are 0',
      allowed: `${salienceSignals.map((signal) => `${signal}=…`).join(',')}, numbers from 0 that sum to 1`,
      preset: writeSalienceWeights(documentWeights),
    },
  ).exactOptional(),
  preRetrieval: path(
    '<file>',
    'preparation of questions by --retriever hinted, JSON or YAML',
    'routing by keyword',
  ).exactOptional(),
  eventsPort: describe(numeric(z.number().int().min(1).max(65_535)), {
    value: '<port>',
    help: 'port on 127.0.0.1 that serves events of --retriever tiered to WebSocket clients',
    preset: 'none',
    allowed: 'a port from 1 to 65535',
  }).exactOptional(),
  topK: wholeFrom(1, '<n>', 'most memories retrieved for a question').default(5),
  threshold: describe(numeric(z.number().min(-1)), {
    value: '<score>',
    help: 'least score of a retrieved memory; -1 accepts all',
    allowed: 'a number, -1 or more',
  }).default(-1),
  alpha: describe(numeric(z.number().min(0)), {
    value: '<factor>',
    help: 'factor on the values (V) of injected memories; 1 leaves them unchanged',
    allowed: 'a number, 0 or more',
  }).default(1),
  limit: wholeFrom(
    1,
    '<n>',
    'approximate number of questions, of whole users drawn by seed',
    "the suite's",
  ).exactOptional(),
  users: wholeFrom(
    1,
    '<n>',
    'number of users to draw; --limit is divided among them',
    'as many as --limit fills, 10 at least',
  ).exactOptional(),
  sessions: wholeFrom(1, '<n>', 'turns that suite serving answers at once').default(2),
  recurrence: describe(numeric(z.number().min(0).max(1)), {
    value: '<share>',
    help: 'of the turns behind the first of a conversation, the share that suite serving lets ask a question again',
    allowed: 'a share from 0 to 1',
  }).default(0.5),
  seed: wholeFrom(0, '<n>', 'seed of all random draws').default(7),
  repeats: wholeFrom(1, '<n>', 'number of times that each question is asked').default(1),
  systemPrompt: describe(z.string(), {
    value: '<text>',
    help: 'instruction of the system message; "" for none',
    allowed: 'a text',
    preset: "the model's, in the user's language",
  }).exactOptional(),
  answerPrefix: text(
    'text with which the model is made to begin its answer; "item" for that of each question, "none" for none',
    'none, item, or a text',
    "the model's",
  ).exactOptional(),
  labels: oneOf('labels', ['index', 'bullet'], 'label of a memory line: [1] or -', "the model's").exactOptional(),
  placement: oneOf('placement', ['chronological', 'rank', 'rank-last'], 'order of the memories in the prompt').default(
    'chronological',
  ),
  template: oneOf(
    'template',
    ['plain', 'chat'],
    "form of the prompt: the bench's own, or the model's chat template",
    "the model's",
  ).exactOptional(),
  reserve: wholeFrom(
    1,
    '<tokens>',
    'tokens reserved for the answer',
    '512, at most a quarter of the window',
  ).exactOptional(),
  historyTurns: wholeFrom(
    0,
    '<n>',
    'most earlier turns of a conversation in a prompt',
    'as many as the budget holds',
  ).exactOptional(),
  contextTokens: wholeFrom(1, '<tokens>', 'size of the context window', "the model's").exactOptional(),
  threads: wholeFrom(1, '<n>', 'threads of the model', 'by the machine').exactOptional(),
  workers: describe(z.union([z.literal('auto'), numeric(z.number().int().min(1))]), {
    value: '<n>',
    help:
      'processes that take turns at one time, each with its own model and its share of the cores; auto: one a core, 4 at' +
      ' most. Times are then under load; suites of times (latency, scaling, serving, storage) keep to one',
    allowed: 'a whole number, 1 or more, or auto',
    preset: '1',
  }).exactOptional(),
  shard: describe(
    z.string().refine((given) => {
      const [, index, of] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(given) ?? [];
      return Number(index) <= Number(of);
    }),
    {
      value: '<i/n>',
      help: 'part i of n of the users, for n processes on any machines; merge puts the parts together',
      allowed: 'i/n, i from 1 to n',
      preset: 'all users',
    },
  ).exactOptional(),
  queue: describe(z.string().min(1), {
    value: '<url>',
    help: 'PostgreSQL that holds the queue: postgres://…; DKI_BENCH_QUEUE keeps its password out of the list of processes',
    preset: 'none',
    allowed: 'an address',
  }).exactOptional(),
  gpu: oneOf('gpu', gpuNames, 'where the model is computed: the CPU (off), or an accelerator').default('off'),
  gpuLayers: describe(z.union([z.literal('max'), numeric(z.number().int().min(0))]), {
    value: '<n>',
    help: 'layers computed on the accelerator, the output layer counted',
    allowed: 'a whole number, 0 or more, or max',
  }).default('max'),
  flashAttention: oneOf(
    'flash attention',
    onOff,
    'faster attention on accelerators; injected K/V is then equal to text within rounding, not bit by bit',
  ).default('off'),
  margin: describe(numeric(z.number().min(0)), {
    value: '<points>',
    help: 'loss of quality, in points of a metric in %, that still counts as kept',
    allowed: 'a number of points, 0 or more',
  }).default(2),
  failBelow: describe(z.preprocess(commaSeparated, z.array(z.string()).min(1)), {
    value: '<bars>',
    help:
      'bars that the results must reach, METRIC:ARM>=ARM-POINTS or METRIC:ARM>=VALUE, comma-separated, such as' +
      ' contains:dki-blocks>=rag-2; below one the exit code is 3',
    preset: 'none',
    allowed: 'comma-separated bars',
  }).exactOptional(),
  judge: describe(z.string().min(1), {
    value: '<url>',
    help:
      'server with an OpenAI-compatible route /v1/chat/completions, which is asked whether answers are right;' +
      ' its key is read from DKI_BENCH_JUDGE_KEY or OPENAI_API_KEY',
    preset: 'none',
    allowed: 'an address',
  }).exactOptional(),
  judgeModel: describe(z.string().regex(/\S/u), {
    value: '<name>',
    help: 'model that --judge asks, as its server calls it',
    allowed: 'a name',
  }).exactOptional(),
  kvStore: path('<dir>', 'K/V store shared by users and runs', 'one for each user of the run').exactOptional(),
  kvBytes: describe(z.preprocess(toBytes, z.number().int().min(1)), {
    value: '<size>',
    help: 'most bytes of K/V kept for a user',
    preset: '256MiB',
    allowed: 'bytes, or a size such as 256MiB',
  }).default(256 * 2 ** 20),
  text: toggle('store hashes in place of prompts, answers, memories and questions: for private data', {
    negated: true,
  }).exactOptional(),
  run: runName('name of the run', 'suite, date and time').exactOptional(),
  resume: runName('name of an interrupted run to continue').exactOptional(),
  out: path('<dir>', 'folder of the reports').default('reports'),
  db: path('<file>', 'database file', 'dki-bench.sqlite in the folder of --out').exactOptional(),
  json: toggle('print one JSON document on standard output, and nothing else').default(false),
  quiet: toggle('print no progress').default(false),
  databaseEcho: toggle('write every SQL statement to standard error').default(false),
});

type Options = z.output<typeof benchConfigSchema>;

/** How a model is asked: the registry says it where nobody else does. */
type Asking = Pick<Options, 'template' | 'systemPrompt' | 'answerPrefix' | 'labels'>;

/** Configuration of a run. All paths are absolute; models with random weights and of the hub are given by name. */
export interface BenchConfig
  extends
    Readonly<Omit<Options, 'arms' | 'dataset' | 'dataFile' | keyof Asking>>,
    Readonly<Required<Omit<Asking, 'systemPrompt'>>> {
  /** Names of arms, those of the calling program included. */
  readonly arms?: readonly string[];
  /** The data sets, at least one: absolute paths of files, or names of public data sets. */
  readonly dataset: readonly string[];
  /** Absolute paths of the files of public data sets, by name; missing where none is asked. */
  readonly dataFile?: Readonly<Record<string, string>>;
  readonly model: string;
  readonly embedder: string;
  readonly systemPrompt: SystemPrompt;
  readonly db: string;
  /** The whole address of the judge's route; missing where no judge is asked. */
  readonly judge?: string;
  /** The beginning of an answer where a question has none of its own, and in arms that ask for it; empty for none. */
  readonly generalAnswerPrefix: string;
  /** Options that were given; a suite may set its own defaults for the others. */
  readonly given: readonly string[];
}
