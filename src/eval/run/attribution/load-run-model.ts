import { availableParallelism } from 'node:os';
import { type EngineChoice, engineOptionNames, randomModelPrefix } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { languageModelWithHash, shippedPath } from '../../../models/model-registry.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { SelectEngine } from '../../../engine/engine-adapter.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';

/** Loads a run's model with its settings. @param path file of an unregistered model @throws BenchError `bad-model` */
export async function loadRunModel(run: RunRecord, path: string, selectEngine: SelectEngine): Promise<Engine> {
  const { name, sha256, contextTokens, cellTokens } = run.model;
  const { settings } = run.plan;
  const { threads } = run.environment;
  const chosen = ['engine', ...engineOptionNames].filter((key) => key in settings).map((key) => [key, settings[key]]);
  const known = languageModelWithHash(sha256);
  const place = known === undefined ? path : (shippedPath(known) ?? known.source);
  const model = name.startsWith(randomModelPrefix) ? name : place;
  const engine = await selectEngine(Object.fromEntries(chosen) as EngineChoice).open({
    model,
    contextTokens,
    // A model server chose its own number of threads, stored as 0.
    threads: threads === 0 ? undefined : Math.min(threads, availableParallelism()),
    cellsPerPosition: cellTokens / contextTokens,
  });
  const found = engine.info.modelSha256 ?? '';
  if (found === sha256) return engine;
  await engine[Symbol.asyncDispose]();
  const hashes = `it has sha-256 ${found.slice(0, 12)}…, and ${name} has ${sha256.slice(0, 12)}…`;
  const hint = 'name the file that the run was made with: --model FILE';
  throw new BenchError('bad-model', `${model}: not the model of the run: ${hashes}`, hint);
}
