import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { BenchError } from '../../../base/bench-error.ts';
import type { ModelGeometry } from '../../../engine/gguf/model-geometry.ts';
import { atFullLayers, measured } from '../../../store/records/suite-measurements.ts';
import { type AccessCosts, costsOfLengths } from '../../../systems/simulator/access-costs.ts';
import { lengthFrame } from '../measure/measure-length.ts';

/** The costs of a turn, and what they assume, one sentence each. */
export interface StatedCosts {
  readonly costs: AccessCosts;
  readonly assumed: readonly string[];
  /** Tokens of memories at which they were measured. */
  readonly lengths?: readonly number[];
}

/** Operations per second: a third of the peak of an NVIDIA A100 in f16. */
const OPERATIONS_PER_SECOND = 1e14;
/** Each call of the model adds the time of this many tokens, in which an A100 reads the weights once (2 TB/s). */
const TOKENS_OF_A_CALL = 50;

interface Speeds {
  /** Evaluated in short prompts. Default: from the number of parameters, at 100 TFLOP/s. */
  readonly tokensPerSecond: number | undefined;
  readonly readBytesPerSecond: number;
  readonly copyBytesPerSecond: number;
}

/** The costs of a model at given speeds: two operations per token and parameter, and attention in proportion. */
export function writtenCosts({ parameters, operationsPerPair }: ModelGeometry, speeds: Speeds): StatedCosts {
  const { readBytesPerSecond: read, copyBytesPerSecond: copy } = speeds;
  const tokensPerSecond = speeds.tokensPerSecond ?? OPERATIONS_PER_SECOND / (2 * parameters);
  const token = 1000 / tokensPerSecond;
  const why =
    speeds.tokensPerSecond === undefined ? ` (100 TFLOP/s, ${(parameters / 1e9).toPrecision(2)} B parameters)` : '';
  return {
    costs: {
      evaluate: { call: TOKENS_OF_A_CALL * token, token, pair: (token * operationsPerPair) / (2 * parameters) },
      import: { fixed: 0, each: 1000 / copy },
      read: { fixed: 0, each: 1000 / read },
      export: { fixed: 0, each: 1000 / copy },
    },
    assumed: [
      `${Math.round(tokensPerSecond)} tokens evaluated per second${why}, attention on top, and ${TOKENS_OF_A_CALL} tokens' time for each call of the model`,
      `KV is read from disk at ${read / 1e9} GB/s and copied to the model and out of it at ${copy / 1e9} GB/s`,
    ],
  };
}

const lengthResults = z.object({
  run: z.object({ name: z.string(), model: z.object({ name: z.string() }) }),
  measured: z.object({ length: measured.unwrap().shape.length.unwrap().unwrap() }),
});

/** Largest relative difference between two descriptions of the same model, in bytes of KV per token or parameters. */
export const SAME_MODEL = 0.1;

/**
 * The costs that suite `length` measured.
 * @param file its `results.json`
 * @throws BenchError `bad-data` if it is none, or measured a model with KV of another size
 */
export function measuredCosts(file: string, { name, kvBytesPerToken }: ModelGeometry): StatedCosts {
  const refuse = (what: string, hint: string, cause?: unknown) =>
    new BenchError('bad-data', `${file}: ${what}`, hint, cause);
  let results: z.output<typeof lengthResults>;
  try {
    results = lengthResults.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw refuse('holds no results of suite length', 'name the results.json of bench --suite length', error);
  }
  const {
    run,
    measured: { length },
  } = results;
  const block = atFullLayers(length).findLast(
    ({ way, tier, type }) => way === 'blocks' && tier === 'memory' && type === 'f16',
  );
  const lengths = [...new Set(length.map(({ tokens }) => tokens))];
  if (block === undefined || lengths.length < 2) {
    throw refuse('has no blocks in f16 at two lengths', 'measure more --lengths');
  }
  const measuredBytes = block.bytes / (block.tokens + lengthFrame.headerTokens);
  if (Math.abs(measuredBytes / kvBytesPerToken - 1) > SAME_MODEL) {
    const sizes = `${Math.round(measuredBytes)} bytes of KV a token, and ${name} has ${kvBytesPerToken}`;
    throw refuse(`measured ${run.model.name}, with ${sizes}`, 'name the same model, or its --shape');
  }
  return {
    costs: costsOfLengths(length, lengthFrame),
    lengths,
    assumed: [
      `times as run ${run.name} measured them with ${run.model.name} at ${Math.min(...lengths)} to ${Math.max(...lengths)} tokens, and in a line beyond`,
    ],
  };
}
