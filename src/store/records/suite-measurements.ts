import { z } from 'zod';
import { replayNames } from '../../config/bench-config.ts';
import { estimate, lowerBound, quantiles, upperBound } from './estimate.ts';
import { list, numbers, object, texts } from './zod-helpers.ts';

/** One arm at one rate of arrivals; times count from the planned arrival of a turn. */
export const servedLoad = object({
  arm: z.string(),
  /** Turns a second, as planned: the same for all arms, unless a trace is replayed by think time. */
  offered: z.number(),
  turns: z.number(),
  /** Failed turns, which no other number includes. */
  errors: z.number(),
  /** Turns a second from the first planned arrival to the last answer. */
  answered: z.number(),
  /** Only the median for a saturated load, because its times depend on how long it lasts. */
  ttftMs: quantiles.nullable(),
  /** The queue still grew at the end. */
  saturated: z.boolean(),
  /** Means per turn; null if the engine does not count them. */
  evaluatedTokens: z.number().nullable(),
  reusedTokens: z.number().nullable(),
  /** KV that was moved into sessions and out of them, mean per turn. */
  movedBytes: z.number(),
  /** Turns whose set of memories, or prefix, was in the store; null for an arm without one. */
  hits: z.number().nullable(),
  /** Turns with the same answer as `rag` at the same rate; null for `rag` itself, and without it. */
  sameAsText: z.number().nullable(),
  /** Evaluated tokens as the engine counts, and as the turns report; null if the engine does not count them. */
  meter: object(numbers('engine', 'turns')).nullable(),
});

/** Arms under load: conversations of several turns that arrive at planned times. */
const servingMeasurement = object({
  /** Number of turns that are answered at the same time. */
  sessions: z.number(),
  conversations: z.number(),
  /** Planned share of follow-up turns that repeat an earlier question of their conversation; counted in a replayed trace. */
  recurrence: z.number(),
  /** The trace whose arrivals are replayed, how, and the number of its users and of those of the data who stand for them. */
  replay: object({ trace: z.string(), by: z.enum(replayNames), ...numbers('users', 'dataUsers') }).exactOptional(),
  /** Turns per second of each arm when the next turn is always waiting. */
  capacity: z.record(z.string(), z.number()).readonly(),
  loads: list(servedLoad),
});

export type ServedLoad = z.output<typeof servedLoad>;
export type ServingMeasurement = z.output<typeof servingMeasurement>;

/** Bytes of KV, and the time to save and load them. */
const storageMeasurement = object({
  kvType: z.string(),
  tier: z.enum(['memory', 'disk', 'text']),
  ...numbers('tokens', 'bytesPerToken'),
  /** Over the repeats; null for tier `text`, which saves and loads nothing. */
  saveMs: quantiles.nullable(),
  loadMs: quantiles.nullable(),
  /** Evaluating the same tokens, median. */
  evaluateMs: z.number().nullable(),
});

export const lengthSteps = ['find', 'read', 'verify', 'convert', 'join', 'import', 'evaluate'] as const;
export type LengthStep = (typeof lengthSteps)[number];

/** Time to first token behind memories of one length, in one way. */
const lengthMeasurement = object({
  /** Tokens of the memories. */
  tokens: z.number(),
  /** `text`: all is evaluated. `resident`: the KV is in the session already, as behind a hit of a prefix cache. */
  way: z.enum(['text', 'resident', 'prefix', 'blocks']),
  /** Where the KV was; `guest-cold`: on disk, and not in the page cache of this system. Null for `text` and `resident`. */
  tier: z.enum(['memory', 'disk', 'guest-cold']).nullable(),
  type: z.enum(['f16', 'q8_0', 'q4_0']).nullable(),
  /** Stored bytes; 0 if nothing is stored. */
  bytes: z.number(),
  /** Layers of the random model that was measured, and of the model whose KV it stands for; missing if that has no more. */
  layers: object(numbers('measured', 'full')).exactOptional(),
  /** Tokens that the engine evaluated up to the first token; null if it does not count them. */
  evaluated: z.number().nullable(),
  /** The first token is that of the text. Joined and quantised KV may give another. */
  sameToken: z.boolean(),
  /** Copying each block out of the session when it was computed; only for blocks in memory. */
  exports: list(object(numbers('bytes', 'ms'))).exactOptional(),
  /** Each measurement: ms by step, energy in joules, and bytes read from disks; null where the system does not count them. */
  repeats: list(
    object({
      steps: object(numbers(...lengthSteps)),
      joules: z.number().nullable(),
      diskBytes: z.number().nullable(),
    }),
  ),
});

/** Ways in which stored KV follows a change of a memory, the true one first and the control last. */
export const editWays = ['rebuild', 'append', 'block', 'splice', 'overwrite', 'unchanged'] as const;
export type EditWay = (typeof editWays)[number];

/** What an answer says: the value after the change, that before it, or neither (or both). */
export const editOutcomes = ['new', 'old', 'neither'] as const;

/** The answers to one question about a changed memory, one for each way. */
const editMeasurement = object({
  ...texts('dataset', 'itemId', 'userId'),
  /** Tokens of the value before and after the change, and tokens of memories behind it. */
  value: object(numbers('before', 'after', 'behind')),
  answers: list(
    object({
      way: z.enum(editWays),
      says: z.enum(editOutcomes),
      /** Tokens that the engine evaluated up to the first token; null if it does not count them. */
      evaluated: z.number().nullable(),
      /** The answer has the tokens of that behind the rebuilt prefix. */
      sameAsRebuilt: z.boolean(),
      /** Missing where the texts of the data may not be stored. */
      text: z.string().exactOptional(),
    }),
  ),
});

/** What one arm did in all turns of a trace, as metered or as simulated. */
const cacheUse = object({
  ...numbers('evaluatedTokens', 'hits', 'entries', 'evicted', 'storedBytes'),
  /** Time to the first token of all turns, without retrieval and tokenising, ms. */
  ms: z.number(),
});

/** Caches under generated traffic: a real run and its simulation, and a map of simulated traffic. */
const reuseMeasurement = object({
  /** Of the real run: `retrieved` memories a turn, and their share that the user had been given before. */
  traffic: object(numbers('turns', 'users', 'memories', 'retrieved', 'repeated')),
  /** Bytes that each arm might keep in memory, and again on disk. */
  maxBytes: z.number(),
  arms: list(
    object({
      arm: z.string(),
      real: cacheUse,
      simulated: cacheUse,
      /** Turns in which evaluated tokens or hit differ. */
      differing: z.number(),
    }),
  ),
  /** As `AccessCosts`, ms. */
  costs: object({
    evaluate: object(numbers('call', 'token', 'pair')),
    import: object(numbers('fixed', 'each')),
    read: object(numbers('fixed', 'each')),
    /** Missing in older reports. */
    export: object(numbers('fixed', 'each')).exactOptional(),
  }),
  /** Lengths at which these costs were measured, in tokens. */
  costsUpTo: z.number(),
  /** Simulated traffic, by memory tokens in a prompt, memories of a user, and where KV may be. */
  map: list(
    object({
      arm: z.string(),
      /** `memory`: all of the users' blocks fit into it. `disk`: a tenth does, and a disk holds the rest; `rag-cached` has no disk. */
      room: z.enum(['memory', 'disk']),
      ...numbers('memoryTokens', 'memories', 'repeated'),
      /** Means per turn. */
      ...numbers('evaluatedTokens', 'ms'),
      /** Share of the turns. */
      hitRate: z.number(),
    }),
  ),
});

/** The cross-user leakage of one arm: `said[asker][owner]` counts answers that hold the owner's secret. */
const leakMatrix = object({
  arm: z.string(),
  users: list(z.string()),
  answers: z.number(),
  said: list(list(z.number())),
  /** Upper 95 % bound of the share of answers that contain another user's secret. */
  upperBound: z.number(),
});

/** Quality of one retrieval strategy on questions of one kind. */
const retrievalMeasurement = object({
  /** The data set of the questions; missing for those made by seed. */
  dataset: z.string().exactOptional(),
  strategy: z.string(),
  /** Embedder of the strategy, if it is not the run's. */
  embedder: z.string().exactOptional(),
  /** `all`, or a kind of question: the category of a data set. */
  kind: z.string(),
  n: z.number(),
  metrics: z
    .record(z.enum(['recallAt1', 'recallAt5', 'recallAt10', 'mrr', 'ndcgAt10']), estimate.nullable())
    .readonly(),
  /** Recall@5 minus that of `router`, paired by question; null for `router`. */
  againstRouter: object({ delta: z.number(), low: lowerBound, high: upperBound, p: z.number() }).nullable(),
  /** Means per question. */
  timingsMs: object(numbers('embedding', 'search', 'ranking', 'total')),
  /** Means per question; null if the strategy has no budget. */
  budgetTokens: object({ used: z.number(), limit: z.number() }).nullable(),
});

/** Retrieval strategies on questions with known evidence, from the seeded generator or from the run's data sets. */
const retrievalMeasurements = object({
  users: z.number(),
  /** Minimum number per user. */
  memories: z.number(),
  /** Data sets used in addition; `leftOut`: items that no memory answers. Missing in older runs. */
  datasets: list(object({ name: z.string(), ...numbers('users', 'memories', 'questions', 'leftOut') })).exactOptional(),
  rows: list(retrievalMeasurement),
  /** Each strategy's `stats` on the generated questions, such as refused memories and cache hits. */
  stats: z.record(z.string(), z.record(z.string(), z.unknown()).readonly()).readonly(),
});

/** Measurements of suites besides turns. */
export const measured = object({
  storage: list(storageMeasurement).exactOptional(),
  leaks: list(leakMatrix).exactOptional(),
  retrieval: retrievalMeasurements.exactOptional(),
  serving: servingMeasurement.exactOptional(),
  length: list(lengthMeasurement).exactOptional(),
  edit: list(editMeasurement).exactOptional(),
  reuse: reuseMeasurement.exactOptional(),
});

export type StorageMeasurement = z.output<typeof storageMeasurement>;
export type LengthMeasurement = z.output<typeof lengthMeasurement>;
export type ReuseMeasurement = z.output<typeof reuseMeasurement>;
export type EditMeasurement = z.output<typeof editMeasurement>;
export type LeakMatrix = z.output<typeof leakMatrix>;
export type RetrievalMeasurement = z.output<typeof retrievalMeasurement>;
export type RetrievalMeasurements = z.output<typeof retrievalMeasurements>;
export type Measured = z.output<typeof measured>;

/**
 * Takes measurements with few layers to the full number: bytes, joules and the ms of each step but `find` grow in proportion to the
 * layers. Measurements of whole models stay as they are.
 */
export function atFullLayers(measured: readonly LengthMeasurement[]): LengthMeasurement[] {
  return measured.map(({ layers, ...row }) => {
    if (layers === undefined) return row;
    const factor = layers.full / layers.measured;
    const exports = row.exports?.map(({ bytes, ms }) => ({ bytes: factor * bytes, ms: factor * ms }));
    const repeats = row.repeats.map(({ steps, joules, diskBytes }) => {
      const scaled = Object.entries(steps).map(([step, ms]) => [step, step === 'find' ? ms : factor * ms]);
      return {
        steps: Object.fromEntries(scaled) as typeof steps,
        joules: joules === null ? null : factor * joules,
        diskBytes: diskBytes === null ? null : factor * diskBytes,
      };
    });
    return { ...row, ...(exports && { exports }), bytes: factor * row.bytes, repeats };
  });
}
