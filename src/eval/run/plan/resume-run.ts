import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../../../base/bench-error.ts';
import { type BenchConfig, engineOptionNames, randomModelPrefix } from '../../../config/bench-config.ts';
import { flagName, optionKeys } from '../../../config/flags-from-schema.ts';
import { shippedDatasetName, shippedDatasets } from '../../../config/shipped-datasets.ts';
import type { RunDatasets } from '../../../data/join-datasets.ts';
import { languageModelWithHash, resolveModel } from '../../../models/model-registry.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { lastRunsHint } from '../../../store/run-names.ts';
import type { RunRepository } from '../../../store/run-repository.ts';
import { additionalMetrics, toDeclaration } from '../../analysis/metrics/metric-selection.ts';
import type { LoadedModels } from '../loaded-models.ts';
import { currentEnvironment, describeModel, describeRetriever } from './new-run-record.ts';
import { decisiveOptions, fixedOptions, type ResumeRule, resumeRules } from './option-resume-rules.ts';

/** The options that a run began with. A data set that ships may lie elsewhere now: another clone, for instance, has its own. */
function begunOptions({ plan: { settings } }: RunRecord): Partial<BenchConfig> {
  const options = settings as unknown as Partial<BenchConfig>;
  if (options.dataset === undefined) return options;
  const present = (file: string): string => {
    const name = existsSync(file) ? undefined : shippedDatasetName(file);
    return name === undefined ? file : shippedDatasets().get(name)!;
  };
  return { ...options, dataset: options.dataset.map(present) };
}

/** The options of a resumed run: those that it began with, and new ones if no turn depends on them. */
export function resumedConfig(config: BenchConfig, run: RunRecord): BenchConfig {
  const begun = decisiveOptions(begunOptions(run));
  if (config.judge !== undefined && begun.judge === undefined) {
    const message = `--resume ${run.name}: the run asks no judge`;
    throw new BenchError('bad-option', message, 'drop --judge, or start a new run with it');
  }
  const open = Object.entries(config).filter(([key]) => !(fixedOptions as readonly string[]).includes(key));
  const resumed = { ...(Object.fromEntries(open) as unknown as BenchConfig), ...begun };
  // The judge's server may have moved: no verdict depends on its address.
  if (config.judge !== undefined) resumed.judge = config.judge;
  const model = modelToOpen({ ...config, ...begun }, run);
  if (model !== undefined) resumed.model = model;
  // Prompts count as given, so that the run keeps them. Options of engines do not: an engine refuses given ones of another.
  const kept = [...optionKeys('Prompt:'), 'generalAnswerPrefix', ...(run.plan.given ?? Object.keys(begun))];
  const isEngineOption = (key: string): boolean => (engineOptionNames as readonly string[]).includes(key);
  const ofRun = Object.keys(begun).filter((key) => kept.includes(key) && !isEngineOption(key));
  return { ...resumed, given: [...config.given, ...ofRun, ...(model === undefined ? [] : ['model'])] };
}

/** Names the options of a command that a resumed run ignores because it keeps its own; null if it ignores none. */
export function unusedOptionsNote(config: BenchConfig, resumed: BenchConfig): string | null {
  // `npm run bench` always gives a number of workers, and a judge may have moved.
  const unused = config.given.filter((key) => {
    const option = key as keyof BenchConfig;
    if (!fixedOptions.includes(option) || option === 'workers' || option === 'judge') return false;
    return !isDeepStrictEqual(config[option], resumed[option]);
  });
  return unused.length === 0 ? null : `--resume: the run keeps its own ${unused.map(flagName).join(', ')}`;
}

/** The options of a suite that had not begun when its command was interrupted. @param run another run of it @throws BenchError `bad-option` */
export function commandConfig(config: BenchConfig, run: RunRecord): BenchConfig {
  const { arms, given } = run.plan;
  const hasRule = (key: string, ...rules: ResumeRule[]) => rules.includes(resumeRules[key as keyof BenchConfig]);
  const stored = (keys: readonly string[]) => keys.filter((key) => hasRule(key, 'fixed', 'planned'));
  // `npm run bench` always gives a number of workers, and a model may be found by its hash.
  const added = stored(config.given).find((key) => key !== 'workers' && given?.includes(key) === false);
  const missing = given?.find((key) => hasRule(key, 'verified') && key !== 'model' && !config.given.includes(key));
  if (given === undefined || added !== undefined || missing !== undefined) {
    const differing = flagName(added ?? missing ?? 'suite');
    const hint = `it was given ${given?.map(flagName).join(', ') ?? 'to an older version, which did not store them'}`;
    throw new BenchError('bad-option', `--resume: ${differing} is not as in the command of run "${run.name}"`, hint);
  }
  const begun: Readonly<Record<string, unknown>> = { ...begunOptions(run), arms: arms.map(({ name }) => name) };
  const restored = stored(given).flatMap((key) => (key in begun ? [[key, begun[key]]] : []));
  const options = { ...config, ...(Object.fromEntries(restored) as Partial<BenchConfig>) };
  return { ...options, model: modelToOpen(options, run) ?? config.model, given: [...config.given, ...given] };
}

/** The model that a resumed run opens. @throws BenchError `bad-option` for a local file, because runs store no paths */
function modelToOpen({ engine, given }: BenchConfig, { name, model, plan }: RunRecord): string | undefined {
  if (given.includes('model') || engine !== 'llama-cpp') return undefined;
  const known = languageModelWithHash(model.sha256);
  if (known !== undefined) return resolveModel(known.name, process.cwd());
  const file = plan.settings['model'];
  if (typeof file !== 'string') return undefined;
  if (file.startsWith(randomModelPrefix)) return file;
  const message = `run "${name}" used the model file ${file}, and runs store no paths`;
  throw new BenchError('bad-option', message, 'give its path: --model FILE');
}

/** The run to resume. @throws BenchError `not-found`, or `bad-option` for one that is finished */
export function findResumable(runs: RunRepository, name: string): RunRecord {
  const run = runs.findByName(name);
  if (run === undefined) throw noSuchRun(name, runs.names());
  if (run.status !== 'finished') return run;
  const hint = `see it: npx dki-bench tables --run ${name}`;
  throw new BenchError('bad-option', `--resume ${name}: the run is finished`, hint);
}

/** @param known names of all runs */
export function noSuchRun(name: string, known: readonly string[]): BenchError {
  const hint = lastRunsHint(known, 'start one: npx dki-bench bench');
  return new BenchError('not-found', `--resume ${name}: there is no such run`, hint);
}

/** Requires the data, models, index and build that the run began with. @throws BenchError `bad-option` */
export async function requireSameInputs(
  run: RunRecord,
  config: BenchConfig,
  dataset: RunDatasets,
  parts: LoadedModels,
) {
  const { info } = parts.engine;
  const before: Readonly<Record<string, unknown>> = run.environment;
  const now: Readonly<Record<string, unknown>> = currentEnvironment(parts);
  const model = describeModel(info);
  const retriever = describeRetriever(config, parts);
  const embedder = await parts.embeddings.info();
  // Without the size of its memory, which changes no result.
  const device = (compute: RunRecord['environment']['compute']) => compute && { ...compute, memoryBytes: undefined };
  const facts: readonly (readonly [what: string, begun: unknown, given: unknown])[] = [
    ['data set', run.dataset.sha256, dataset.sha256],
    ['model', run.model.sha256, model.sha256],
    // For a server that shows no hash of its model.
    ['model', [run.model.name, run.model.parameters], [model.name, model.parameters]],
    // The stored self-test says nothing about another build. Older runs lack some of these.
    ...['benchVersion', 'engine', 'build', 'stateIdentity'].map((key) => {
      return [`version (${key})`, before[key] ?? now[key], now[key]] as const;
    }),
    ['context window', run.model.contextTokens, model.contextTokens],
    ['embedder', run.embedder.sha256, embedder.sha256],
    ["embedder's runtime", run.embedder.runtime ?? embedder.runtime, embedder.runtime],
    ['number of threads', run.environment.threads, info.threads ?? 0],
    ['device', device(run.environment.compute) ?? undefined, device(info.compute) ?? undefined],
    ['retriever', run.retriever.name, retriever.name],
    ['vector backend', run.retriever.backend, retriever.backend],
    ['place of memories', run.retriever.tiers, retriever.tiers],
    ['list of registered metrics', run.plan.metrics ?? [], additionalMetrics(config).map(toDeclaration)],
    ['preparation of questions', run.retriever.preRetrieval, retriever.preRetrieval],
  ];
  const changed = facts.find(([, begun, given]) => JSON.stringify(begun) !== JSON.stringify(given))?.[0];
  if (changed === undefined) return;
  const message = `run "${run.name}": the ${changed} is not the one that the run began with`;
  throw new BenchError('bad-option', message, `give the same ${changed}, or start a new run`);
}
