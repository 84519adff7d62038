import { z } from 'zod';
import { BenchError } from '../../config/bench-error.ts';
import { randomModelPrefix } from '../../config/bench-config.ts';
import type { RunRow } from '../../db/schema.ts';
import { LanguageModel } from '../../llm/language-model.ts';
import { modelFileOf } from '../../llm/model-file.ts';

const columns = z.object({
  model: z.object({ name: z.string(), sha256: z.string(), contextTokens: z.number(), cellTokens: z.number() }),
  environment: z.object({ threads: z.number() }),
});

/** The model of a run and how it was loaded, as far as its numbers depend on it. */
export type RunModel = z.output<typeof columns>['model'] & z.output<typeof columns>['environment'];

/** @throws BenchError `database` where another release wrote the run */
export function runModel(run: RunRow): RunModel {
  const parsed = columns.safeParse(run);
  if (parsed.success) return { ...parsed.data.model, ...parsed.data.environment };
  throw new BenchError(
    'database',
    `run "${run.name}" does not say which model it was made with`,
    'it was written by another release; run the bench again with this one',
    parsed.error,
  );
}

/**
 * Loads the model of a run as the run had loaded it, with one sequence.
 * @param path the model's file, on this machine or a hub; of random weights, the name of the run's model counts
 * @throws BenchError `bad-model` where the file is another model, or cannot be loaded
 */
export async function loadRunModel(wanted: RunModel, path: string): Promise<LanguageModel> {
  const { name, sha256, contextTokens, cellTokens, threads } = wanted;
  const modelPath = await modelFileOf(name.startsWith(randomModelPrefix) ? name : path);
  const model = await LanguageModel.load({
    modelPath,
    contextTokens,
    cellsPerPosition: cellTokens / contextTokens,
    threads,
  });
  if (model.info.sha256 === sha256) return model;
  const found = model.info.sha256;
  await model.dispose();
  throw new BenchError(
    'bad-model',
    `${modelPath}: not the model of the run: it has sha-256 ${found.slice(0, 12)}…, and ${name} has ${sha256.slice(0, 12)}…`,
    'name the file that the run was made with: --model FILE',
  );
}
