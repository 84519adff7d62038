import { z } from 'zod';
import { armNames, armSettingsHelp, isArmName } from './arm-name.ts';

/** The strategies of recall that `--retriever` names. */
export const retrieverNames = ['router', 'tiered', 'salience', 'hinted'] as const;
export type RetrieverName = (typeof retrieverNames)[number];

/** How PostgreSQL searches: through all lists of vectors, through one of them, or along a graph. */
const coldIndexNames = ['ivfflat', 'ivfflat-approximate', 'hnsw'] as const;
export type ColdIndexName = (typeof coldIndexNames)[number];

/** What an option takes, for its help and for the message of a wrong value. */
export interface OptionDescription {
  /** The placeholder in the help; none for a switch. */
  readonly value?: string;
  readonly help: string;
  /** Completes "expected …". */
  readonly allowed: string;
  /** What one of its values is called, and which there are; where only some values can be. */
  readonly names?: { readonly kind: string; readonly known: readonly string[] };
}

/** The suites, in the order in which `all` runs them. */
export const suiteNames = [
  'main',
  'context',
  'ablation',
  'alpha',
  'latency',
  'coherence',
  'retrieval',
  'storage',
  'isolation',
  'scaling',
  'coreference',
] as const;

export type SuiteName = (typeof suiteNames)[number];

/** Begins the name of a model that is no file yet: the rest names a shape, and the weights are random. */
export const randomModelPrefix = 'random:';

/** The descriptions of the options, kept with their schemas. */
export const optionDescriptions = z.registry<OptionDescription>();

function describe<Schema extends z.ZodType>(schema: Schema, description: OptionDescription): Schema {
  optionDescriptions.add<z.ZodType>(schema, description);
  return schema;
}

const numeric = (schema: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value), schema);

const wholeFrom = (least: number, value: string, help: string) =>
  describe(numeric(z.number().int().min(least)), { value, help, allowed: `a whole number, ${least} or more` });

const toggle = (help: string) =>
  describe(
    z.preprocess(
      (value) => (value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value),
      z.boolean(),
    ),
    { help, allowed: 'true or false' },
  );

const oneOf = <const Names extends readonly [string, ...string[]]>(kind: string, known: Names, help: string) =>
  describe(z.enum(known), { value: '<name>', help, allowed: known.join(' or '), names: { kind, known } });

const path = (value: string, help: string) => describe(z.string().min(1), { value, help, allowed: 'a path' });

const runName = (help: string) =>
  describe(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), {
    value: '<name>',
    help,
    allowed: 'letters, digits, ".", "_" and "-", since a folder gets this name',
  });

const byteUnits: Readonly<Record<string, number>> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** `256MiB` in bytes; what is no size is left as it is, for the schema to refuse. */
function toBytes(value: unknown): unknown {
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?) ?(KiB|MiB|GiB|)$/.exec(value) : null;
  return match === null ? value : Math.round(Number(match[1]) * byteUnits[match[2]!]!);
}

/**
 * The options of the bench, each with its default: the one place where they are described. Texts are read as numbers
 * and switches, so that a flag, an environment variable and a value in the file mean the same.
 */
export const benchConfigSchema = z.strictObject({
  suite: describe(
    z.preprocess(
      (value) => (typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value),
      z.array(z.enum([...suiteNames, 'all'])).min(1),
    ),
    {
      value: '<names>',
      help: 'what is asked, by comma; all for every suite',
      allowed: 'names by comma',
      names: { kind: 'suite', known: [...suiteNames, 'all'] },
    },
  ).default(['main']),
  arms: describe(
    z.preprocess(
      (value) => (typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value),
      z.array(z.string().refine(isArmName)).min(1),
    ),
    {
      value: '<names>',
      help: `the arms to run, by comma (default: all of the suite); each may have settings: ${armSettingsHelp}`,
      allowed: 'names by comma',
      names: { kind: 'arm', known: armNames },
    },
  ).exactOptional(),
  dataset: describe(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]), {
    value: '<names|files>',
    help: 'a data set that ships, or a file; several by comma, each user judged in the language of their own',
    allowed: 'names or files, by comma',
  }).default('recall-en,recall-zh'),
  model: path(
    '<file>',
    'the language model: a GGUF file, recall-base or recall-block (which ship), hf:org/repo/file.gguf to fetch one,' +
      ' or random:SHAPE for random weights (default: recall-base)',
  ).exactOptional(),
  embedder: path(
    '<dir>',
    'the embedding model: a folder with ONNX weights, or hf:org/repo to fetch one (default: the one that ships)',
  ).exactOptional(),
  retriever: oneOf('retriever', retrieverNames, 'how memories are recalled').default('router'),
  hot: describe(z.string().min(1), {
    value: '<url>',
    help: 'where tiered keeps working memory: redis://… (default: in the process)',
    allowed: 'an address',
  }).exactOptional(),
  cold: describe(z.string().min(1), {
    value: '<url>',
    help: 'where tiered keeps long-term memory: postgres://… with pgvector (default: a SQLite file, searched by FAISS)',
    allowed: 'an address',
  }).exactOptional(),
  coldIndex: oneOf('index', coldIndexNames, 'how --cold is searched: exactly, or by an approximation').default(
    'ivfflat',
  ),
  recallTokens: wholeFrom(0, '<n>', 'tokens that the memories of salience may take (default: 1500)').exactOptional(),
  preRetrieval: path('<file>', 'how hinted prepares questions, JSON (default: by keyword)').exactOptional(),
  eventsPort: describe(numeric(z.number().int().min(1).max(65_535)), {
    value: '<port>',
    help: 'serve the events of tiered to WebSocket clients on 127.0.0.1',
    allowed: 'a port from 1 to 65535',
  }).exactOptional(),
  topK: wholeFrom(1, '<n>', 'memories recalled for a question').default(5),
  threshold: describe(numeric(z.number().min(-1)), {
    value: '<score>',
    help: 'least score of a recalled memory; -1 for none',
    allowed: 'a number, -1 or more',
  }).default(-1),
  alpha: describe(numeric(z.number().min(0)), {
    value: '<factor>',
    help: 'multiplies the values of injected memories; 1 leaves them as they are',
    allowed: 'a number, 0 or more',
  }).default(1),
  limit: wholeFrom(1, '<n>', 'about how many questions to ask, of whole users drawn by seed').exactOptional(),
  seed: wholeFrom(0, '<n>', 'seed of every draw').default(7),
  repeats: wholeFrom(1, '<n>', 'how often each question is asked').default(1),
  labels: oneOf('labels', ['index', 'bullet'], 'how a memory line begins: [1] or -').default('index'),
  placement: oneOf('placement', ['chronological', 'rank'], 'the order of the memories in the prompt').default(
    'chronological',
  ),
  template: oneOf(
    'template',
    ['plain', 'chat'],
    "the form of a prompt: in the bench's words, or in the model's own chat template",
  ).default('plain'),
  reserve: wholeFrom(1, '<tokens>', 'tokens kept free for the answer').exactOptional(),
  contextTokens: wholeFrom(1, '<tokens>', "size of the window (default: the model's)").exactOptional(),
  threads: wholeFrom(1, '<n>', 'threads of the model (default: by the machine)').exactOptional(),
  margin: describe(numeric(z.number().min(0)), {
    value: '<points>',
    help: 'loss of exact match that still counts as kept',
    allowed: 'a number of points, 0 or more',
  }).default(2),
  kvStore: path('<dir>', 'a K/V store shared by users and runs; the run says so').exactOptional(),
  kvBytes: describe(z.preprocess(toBytes, z.number().int().min(1)), {
    value: '<size>',
    help: 'how much K/V is kept for a user, such as 256MiB',
    allowed: 'bytes, or a size such as 256MiB',
  }).default(256 * 2 ** 20),
  run: runName('name of the run').exactOptional(),
  resume: runName('go on with the run of this name').exactOptional(),
  out: path('<dir>', 'where reports go').default('reports'),
  db: path('<file>', 'the database (default: dki-bench.sqlite in the folder of --out)').exactOptional(),
  json: toggle('print one JSON document on standard output and nothing else').default(false),
  quiet: toggle('no progress').default(false),
  databaseEcho: toggle('write every SQL statement to standard error').default(false),
});

type Options = z.output<typeof benchConfigSchema>;

/** What a run is told to do. All paths are absolute; models of random weights and of the hub have their names. */
export interface BenchConfig extends Readonly<Omit<Options, 'arms' | 'dataset'>> {
  /** Names of arms; of one's own too, where the program brings them. */
  readonly arms?: readonly string[];
  /** Files of the data sets, one or more. */
  readonly dataset: readonly string[];
  readonly model: string;
  readonly embedder: string;
  readonly db: string;
  /** The options that somebody gave; of the others a suite may have its own defaults. */
  readonly given: readonly string[];
}
