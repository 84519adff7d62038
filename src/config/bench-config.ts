import { z } from 'zod';
import {
  address,
  commaSeparated,
  count,
  list,
  numberFrom,
  numeric,
  oneOf,
  option,
  path,
  runName,
  text,
  toBytes,
  toggle,
} from './option-schema-builders.ts';
import { defaultWeights, parseSalienceWeights, salienceSignals, writeSalienceWeights } from './salience-weights.ts';

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
  'length',
  'edit',
  'reuse',
  'multi-turn',
] as const;

/** Suites that run only by name: they are not part of `all`. */
export const suitesByNameOnly: readonly SuiteName[] = ['length', 'edit', 'reuse', 'multi-turn'];

export type SuiteName = (typeof suiteNames)[number];

/** The engines, the default first. */
const engineNames = ['llama-cpp', 'llama-server', 'openai'] as const;

/** Where a model runs: on the CPU, on the first accelerator that is found, or on one with a given interface. */
export const gpuNames = ['off', 'auto', 'cuda', 'vulkan', 'metal'] as const;
export type GpuName = (typeof gpuNames)[number];

/** Retrieval strategies that search a user's memories for a query. */
export const searchingRetrieverNames = ['router', 'tiered', 'salience', 'hinted'] as const;

/** Values of `--retriever`. `given` does not search: it returns the passages that each item of the data lists. */
export const retrieverNames = [...searchingRetrieverNames, 'given'] as const;
export type RetrieverName = (typeof retrieverNames)[number];

/** Strategies that also summarise what they retrieve; a prompt may show the summary instead of the memories. */
export const summarisingRetrieverNames: readonly RetrieverName[] = ['tiered'];

/** How a trace is replayed: at its times, or each turn of a conversation after the last answer and the recorded gap. */
export const replayNames = ['timestamps', 'think-time'] as const;

export const onOff = ['off', 'on'] as const;

/** Indexes of pgvector: IVFFlat searching all lists (exact), IVFFlat searching one list, and HNSW. */
const coldIndexNames = ['ivfflat', 'ivfflat-approximate', 'hnsw'] as const;
export type ColdIndexName = (typeof coldIndexNames)[number];

/** Options that only some engines have: each adapter lists its own. */
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

/** Engine options that say where an engine is; results do not depend on them. */
export const enginePlaceNames = ['engineUrl', 'slotsFolder', 'llamaServer'] as const;

/** An engine and its own options. */
export type EngineChoice = Partial<Pick<BenchConfig, (typeof engineOptionNames)[number] | 'given'>> & {
  /** Any text, since the name in a stored run may be unknown here. */
  readonly engine?: string;
};

/** Stands for the model that a server has loaded. */
export const servedModel = 'served';

/** Prefix of models with random weights: the rest of the name is a shape. */
export const randomModelPrefix = 'random:';

/** Memories that are retrieved for a question, if no option says otherwise. */
export const DEFAULT_TOP_K = 5;

const questions = {
  suite: option(z.preprocess(commaSeparated, z.array(z.enum([...suiteNames, 'all'])).min(1)), {
    value: '<names>',
    help: `suites to run, comma-separated, or "all" (all but ${suitesByNameOnly.join(', ')})`,
    allowed: 'comma-separated names',
    names: { kind: 'suite', known: [...suiteNames, 'all'] },
  }).default(['main']),
  arms: list('names', 'arms to run, comma-separated', 'all of the suite'),
  dataset: option(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]), {
    value: '<names|files>',
    help:
      'data sets to run, comma-separated: shipped ones by name, public ones by name (locomo, musique-s, 2wiki, hotpotqa, longmemeval,' +
      ' beam, multi-turn; fetched, or given by --data-file), or files; each user is scored in their own language',
    allowed: 'comma-separated names or files',
  }).default('recall-en,recall-zh'),
  dataFile: option(z.union([z.string().min(1), z.record(z.string(), z.string().min(1))]), {
    value: '<files>',
    help: 'file of a public data set, as published; for several sets NAME=FILE, comma-separated',
    preset: 'data/NAME.json in the cache folder',
    allowed: 'a path, or NAME=FILE, comma-separated',
  }),
  errata: path('<file>', 'published audit of --dataset locomo, JSON: corrects answers and citations, drops questions'),
  limit: count(1, 'approximate number of questions; whole users are drawn by the seed', "the suite's"),
  users: count(
    1,
    'users to draw; --limit is divided among them',
    'as many as --limit fills, at least 10 from --limit 20 on',
  ),
  repeats: count(1, 'times that each question is asked').default(1),
  seed: count(0, 'seed of all random draws').default(7),
  sessions: count(1, 'turns that suite serving answers concurrently').default(2),
  lengths: option(z.preprocess(commaSeparated, z.array(numeric(z.number().int().min(1))).min(1)), {
    value: '<tokens>',
    help:
      'tokens of memories in suite length and in data make ruler, comma-separated; the suite leaves out those beyond the' +
      ' window of the model',
    allowed: 'whole numbers from 1, comma-separated',
  }).default([256, 1024, 2048, 4096, 8192]),
  recurrence: option(numeric(z.number().min(0).max(1)), {
    value: '<share>',
    help: 'share of follow-up turns that repeat a question, in suite serving',
    allowed: 'a share from 0 to 1',
  }).default(0.5),
  trace: path(
    '<file>',
    'traffic whose arrivals suite serving replays: JSON Lines, or the database of a run; as many turns as --limit',
    'conversations at five rates',
  ),
  traceRun: text('<name>', 'run of --trace, for the database of runs', 'the latest'),
  traceArm: text('<name>', 'arm of the run of --trace', 'rag'),
  replay: oneOf(
    'replay',
    replayNames,
    'when a turn of --trace is sent: at its time, or after the last answer of its conversation and the recorded gap',
    'timestamps',
  ),
};

const modelAndEngine = {
  model: path(
    '<file>',
    'language model: a GGUF file, a name that dki-bench models lists, hf:org/repo/file.gguf (fetched), or' +
      ' random:SHAPE (random weights)',
    'recall-base',
  ),
  engine: oneOf('engine', engineNames, 'engine that runs the language model').default('llama-cpp'),
  engineUrl: address(
    'address of a server that has the model loaded; --model then gives its name on the server, or its file',
    'none',
  ),
  allowRemote: toggle('allow --engine-url on another machine, which then receives what users said'),
  engineModel: text('<name>', 'name of the model on an OpenAI-compatible server', 'the only one'),
  slotsFolder: path(
    '<dir>',
    'directory for slot save and restore of a llama-server; needed to inject KV, with --model naming the file it serves',
    'none',
  ),
  llamaServer: path('<program>', 'llama-server program to start for the run, and to stop after it', 'none'),
  embedder: path(
    '<dir>',
    'embedding model: a folder with ONNX weights, a name (embed-en-zh, minilm), or hf:org/repo (fetched)',
    "the model's",
  ),
  contextTokens: count(1, 'size of the context window', "the model's", '<tokens>'),
  threads: count(1, 'threads of the model, at most one per core', 'by the machine'),
  workers: option(z.union([z.literal('auto'), numeric(z.number().int().min(1))]), {
    value: '<n>',
    help:
      'worker processes, each with its own model and its share of the cores; auto: one per core, at most 4. Times are then' +
      ' measured under load; suites that measure times (latency, length, reuse, scaling, serving, storage) use one worker',
    allowed: 'a whole number, 1 or more, or auto',
    preset: '1',
  }),
  shard: option(
    z.string().refine((given) => {
      const [, index, of] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(given) ?? [];
      return Number(index) <= Number(of);
    }),
    {
      value: '<i/n>',
      help: 'part i of n of the users, for n processes on any machines; queue merge joins the parts',
      allowed: 'i/n, i from 1 to n',
      preset: 'all users',
    },
  ),
  gpu: oneOf('gpu', gpuNames, 'where the model runs: on the CPU (off), or on an accelerator').default('off'),
  gpuLayers: option(z.union([z.literal('max'), numeric(z.number().int().min(0))]), {
    value: '<n>',
    help: 'number of layers to run on the accelerator, including the output layer',
    allowed: 'a whole number, 0 or more, or max',
  }).default('max'),
  flashAttention: oneOf(
    'flash attention',
    onOff,
    'faster attention on accelerators; injected KV then equals text within rounding, not bit by bit',
  ).default('off'),
};

const prompt = {
  systemPrompt: option(z.string(), {
    value: '<text>',
    help: 'instruction of the system message; "" for none',
    allowed: 'a text',
    preset: "the model's, in the user's language",
  }),
  answerPrefix: text(
    '<text>',
    'text that every answer is forced to begin with; "item": the prefix that the question defines; "none": no prefix',
    "the model's",
    'none, item, or a text',
  ),
  labels: oneOf('labels', ['index', 'bullet'], 'label of a memory line: [1] or -', "the model's"),
  placement: oneOf('placement', ['chronological', 'rank', 'rank-last'], 'order of the memories in the prompt').default(
    'chronological',
  ),
  template: oneOf(
    'template',
    ['plain', 'chat'],
    "form of the prompt: the bench's own, or the model's chat template",
    "the model's",
  ),
  reserve: count(1, 'tokens reserved for the answer', '512, at most a quarter of the window', '<tokens>'),
  historyTurns: count(0, 'maximum number of earlier turns in a prompt', 'as many as fit'),
};

const retrieval = {
  retriever: oneOf(
    'retriever',
    retrieverNames,
    'strategy that retrieves memories; given: the passages that each item lists, in their order',
  ).default('router'),
  hot: address('working memory of --retriever tiered: redis://…', 'in the process'),
  cold: address(
    'long-term memory of --retriever tiered: postgres://… with pgvector',
    'a SQLite file, searched by FAISS',
  ),
  coldIndex: oneOf('index', coldIndexNames, 'vector index of --cold: exact, or approximate').default('ivfflat'),
  retrievalTokens: count(0, 'token budget of --retriever salience', '1500'),
  halfLife: option(numeric(z.number().positive()), {
    value: '<days>',
    help: 'days after which the recency of a memory halves, for --retriever salience',
    preset: '30',
    allowed: 'a number of days above 0',
  }),
  salienceWeights: option(
    z.string().refine((given) => parseSalienceWeights(given) !== undefined),
    {
      value: '<weights>',
      help: 'weights of the signals of --retriever salience as signal=number; they sum to 1, and signals not named get 0',
      allowed: `${salienceSignals.map((signal) => `${signal}=…`).join(',')}, numbers from 0 that sum to 1`,
      preset: writeSalienceWeights(defaultWeights),
    },
  ),
  preRetrieval: path('<file>', 'JSON or YAML that configures --retriever hinted', 'routing by keyword'),
  topK: count(1, 'maximum number of memories retrieved for a question').default(DEFAULT_TOP_K),
  threshold: numberFrom(-1, '<score>', 'minimum score of a retrieved memory; -1 accepts all').default(-1),
};

const kv = {
  alpha: numberFrom(0, '<factor>', 'factor on the values (V) of injected memories; 1 leaves them unchanged').default(1),
  kvStore: path('<dir>', 'KV store shared by users and runs', 'one for each user of the run'),
  externalKv: path('<dir>', 'KV files made elsewhere: dki-external:NAME reads those in the folder NAME', 'none'),
  kvBytes: option(z.preprocess(toBytes, z.number().int().min(1)), {
    value: '<size>',
    help: 'maximum size of a KV store: that of each user, or the one named by --kv-store',
    preset: '256MiB',
    allowed: 'bytes, or a size such as 256MiB',
  }).default(256 * 2 ** 20),
};

const answers = {
  margin: option(numeric(z.number().min(0)), {
    value: '<points>',
    help: 'tolerated loss of a metric, in percentage points: an arm within it keeps the quality of the other',
    allowed: 'a number of points, 0 or more',
  }).default(2),
  failBelow: list(
    'bars',
    'minimum results, METRIC:ARM>=ARM-POINTS or METRIC:ARM>=VALUE, comma-separated, such as contains:dki-blocks>=rag-2;' +
      ' if one is missed, the exit code is 3',
    'none',
  ),
  judge: address(
    'server with an OpenAI-compatible route /v1/chat/completions that judges whether answers are right; its key is read from' +
      ' DKI_BENCH_JUDGE_KEY or OPENAI_API_KEY',
    'none',
  ),
  judgeModel: text('<name>', "the judge's model, by its server's name for it"),
};

const output = {
  queue: address(
    'PostgreSQL that holds the queue: postgres://…; DKI_BENCH_QUEUE keeps its password out of the list of processes',
    'none',
  ),
  text: toggle('store hashes instead of prompts, answers, memories and questions: for private data', { negated: true }),
  run: runName('name of the run', 'suite, date and time'),
  resume: runName('name of an interrupted run to continue'),
  out: path('<dir>', 'folder of the reports').default('reports'),
  db: path('<file>', 'database file', 'dki-bench.sqlite in the folder of --out'),
  json: toggle('print one JSON document on standard output, and nothing else').default(false),
  freshSelfTest: toggle(
    'test the model again, even if a result of the same model, program and machine is stored',
  ).default(false),
  verbose: toggle('print all tables of the suite, not only the first answer').default(false),
  quiet: toggle('print no progress').default(false),
  databaseEcho: toggle('write every SQL statement to standard error').default(false),
};

/** The options by the headings under which help shows them. */
export const optionGroups = {
  'Questions:': questions,
  'Model and engine:': modelAndEngine,
  'Prompt:': prompt,
  'Retrieval:': retrieval,
  'KV:': kv,
  'Answers:': answers,
  'Run and output:': output,
};

/**
 * The options of the bench: flags, environment variables, the configuration file, its JSON schema and the help all derive
 * from it. Texts are read as numbers and booleans, so that a flag, a variable and a value in the file mean the same.
 */
export const benchConfigSchema = z.strictObject({
  ...questions,
  ...modelAndEngine,
  ...prompt,
  ...retrieval,
  ...kv,
  ...answers,
  ...output,
});

/** A text in prompts: one for all languages, or one per language. */
export const promptTextSchema = z.union([z.string(), z.strictObject({ en: z.string(), zh: z.string() }).readonly()]);

export type PromptText = z.output<typeof promptTextSchema>;

type Options = z.output<typeof benchConfigSchema>;

/** Prompt options. Their defaults are in the model registry. */
type PromptDefaults = Pick<Options, 'template' | 'systemPrompt' | 'answerPrefix' | 'labels'>;

/** Configuration of a run. Paths are absolute; models of the hub and with random weights are given by name. */
export interface BenchConfig
  extends
    Readonly<Omit<Options, 'arms' | 'dataset' | 'dataFile' | keyof PromptDefaults>>,
    Readonly<Required<Omit<PromptDefaults, 'systemPrompt'>>> {
  /** Names of arms, including arms of the calling program. */
  readonly arms?: readonly string[];
  /** The data sets, at least one: absolute paths of files, or names of public data sets. */
  readonly dataset: readonly string[];
  /** Absolute paths of the files of public data sets, by name; missing if the run uses none. */
  readonly dataFile?: Readonly<Record<string, string>>;
  readonly model: string;
  readonly embedder: string;
  /** Empty for no system message. */
  readonly systemPrompt: PromptText;
  /** The line above the memories, if the model's defaults have one. */
  readonly memoryHeader?: PromptText;
  readonly db: string;
  /** Full address of the judge's route; missing without a judge. */
  readonly judge?: string;
  /** Prefix of answers to questions that define none, and in arms that always force one; empty for none. */
  readonly generalAnswerPrefix: PromptText;
  /** Keys of the options that the user gave; a suite may have other defaults for the rest. */
  readonly given: readonly string[];
}
