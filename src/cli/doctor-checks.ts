import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { dirname, join } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError, catchBenchError } from '../base/bench-error.ts';
import { diskErrorHint } from '../base/disk-error-hint.ts';
import { TemporaryFolder } from '../base/temporary-folder.ts';
import { openDatabase } from '../store/database.ts';
import { RunRepository } from '../store/run-repository.ts';
import { TransformersEmbedder } from '../models/embedding/transformers-embedder.ts';
import { readRunDatasets } from '../data/join-datasets.ts';
import { openConfiguredEngine } from '../bench/select-engine.ts';
import type { EngineOpener } from '../engine/engine-adapter.ts';
import { kernelChoice } from '../kv/kernels.ts';
import { openQueryModel } from '../retrieval/hinted/engine-query-model.ts';
import { assessRouting, describeAbility } from '../retrieval/hinted/pre-retrieval/route-by-model.ts';
import { routeExamples } from '../retrieval/hinted/route-examples.ts';
import { chooseVectorBackend } from '../retrieval/vectors/choose-vector-backend.ts';
import { openPromptForm } from '../systems/prompt/chat-form.ts';
import { countText } from '../render/format-number.ts';
import { displayPath } from './output.ts';

export interface Finding {
  readonly state: 'works' | 'warning' | 'fails';
  readonly found: string;
  readonly advice?: string;
}

export interface Check {
  readonly name: string;
  readonly run: (config: BenchConfig, engines: EngineOpener) => Finding | Promise<Finding>;
  /** False if these options do not need the check. Default: they always do. */
  readonly applies?: (config: BenchConfig) => boolean;
}

const gibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

const works = (found: string): Finding => ({ state: 'works', found });
const warning = (found: string, advice: string): Finding => ({ state: 'warning', found, advice });

function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

function cores(): Finding {
  const count = availableParallelism();
  const found = `${countText(count, 'core')}, ${gibibytes(freemem())} of memory free`;
  return count > 1 ? works(found) : warning(found, 'times will vary more; run nothing else');
}

function reports({ out }: BenchConfig): Finding {
  const folder = nearestFolder(out);
  accessSync(folder, constants.W_OK | constants.X_OK);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const found = `${displayPath(out)} can be written, ${gibibytes(free)} free`;
  return free >= 2 ** 30 ? works(found) : warning(found, 'a long run may need 1 GiB');
}

function database(): Finding {
  using folder = new TemporaryFolder();
  using opened = openDatabase({ path: join(folder.path, 'doctor.sqlite') });
  const runs = new RunRepository(opened).list().length;
  return works(`better-sqlite3 made a database with ${runs} runs`);
}

function vectors(): Finding {
  const { backend, rejectedBackends } = chooseVectorBackend();
  const found = `${backend.name} ${backend.version} passed its search test`;
  if (backend.name.startsWith('faiss')) return works(found);
  const reasons = rejectedBackends.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  return warning(
    `${found} instead of FAISS (${reasons})`,
    'results are the same; for FAISS: apt-get install libfaiss-dev libopenblas-dev g++, then npm rebuild',
  );
}

function kernels(): Finding {
  const { rejectedBackends } = kernelChoice();
  if (rejectedBackends === null) return works('native kernels move KV blocks and passed their test');
  return warning(
    `WebAssembly moves KV blocks instead of native kernels (${rejectedBackends})`,
    'results are the same, joins take 1.5 times as long; for native kernels: apt-get install gcc libc6-dev, then npm rebuild',
  );
}

async function embedder({ embedder: folder }: BenchConfig): Promise<Finding> {
  const opened = await TransformersEmbedder.open(folder);
  const [vector] = await opened.embed(['Where does my sister live?']);
  const { name, dimension, runtime } = opened.info;
  if (vector?.length !== dimension || !vector.every(Number.isFinite) || vector.every((value) => value === 0)) {
    const found = `${name} gave no vector of ${dimension} numbers`;
    return { state: 'fails', found, advice: 'name another with --embedder' };
  }
  const slow = runtime.startsWith('onnxruntime-web')
    ? ' (WebAssembly; where onnxruntime-node is installed, it is used and is about three times as fast)'
    : '';
  return works(`${name} embedded a sentence in ${dimension} numbers on ${runtime}${slow}`);
}

async function dataset(config: BenchConfig): Promise<Finding> {
  const { name, parts } = await readRunDatasets(config);
  const users = parts.flatMap((part) => part.users);
  const items = users.reduce((sum, user) => sum + user.items.length, 0);
  return works(`${name}: ${items} items of ${users.length} users`);
}

async function model(config: BenchConfig, engines: EngineOpener): Promise<Finding> {
  await using engine = await openConfiguredEngine(engines, config);
  await using session = await engine.openSession('doctor');
  const { bosToken, build, model: described } = engine.info;
  const [prompt = []] = await engine.tokenize([{ text: 'User: hello\n\nAI:', as: 'text', first: true }]);
  const { tokens } = await session.generate([...(bosToken === null ? [] : [bosToken]), ...prompt], { maxTokens: 8 });
  // A chat template that cannot be used is a warning: the plain form works.
  const form = described.chatTemplate === null ? null : await catchBenchError(openPromptForm('chat', engine));
  const versions = Object.entries(build).map(([name, version]) => `${name} ${version}`);
  const found = `${described.name} answered a prompt with ${tokens.length} tokens (${versions.join(', ')})`;
  return form instanceof BenchError ? warning(`${found}; ${form.message}`, form.hint) : works(found);
}

/** Tests the model as a router of questions, for `--retriever hinted` with `"route_strategy": "llm"`. */
async function routing(config: BenchConfig, engines: EngineOpener): Promise<Finding> {
  const advice =
    '--retriever hinted then falls back to its default strategy, and counts how often: route by keyword or classifier';
  try {
    await using engine = await openConfiguredEngine(engines, config);
    await using queryModel = await openQueryModel(engine);
    const ability = await assessRouting(queryModel, routeExamples.test);
    const found = describeAbility(queryModel.name, ability);
    return ability.able ? works(found) : warning(found, advice);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return warning(`no model to route questions: ${error.message}`, advice);
  }
}

/** Lists the devices that the engine can use: the CPU and any accelerators. */
async function devices(_config: BenchConfig, engines: EngineOpener): Promise<Finding> {
  const accelerators = await engines.accelerators();
  const found = accelerators.map(({ name, devices: names, memoryBytes, freeBytes, obstacle }) =>
    obstacle === null
      ? `--gpu ${name}: ${names.join(', ')}, ${gibibytes(memoryBytes)} of memory, ${gibibytes(freeBytes)} free`
      : obstacle.why,
  );
  const advice = accelerators.flatMap(({ name, obstacle }) => (obstacle === null ? [] : `${name}: ${obstacle.advice}`));
  const result = works(['the CPU', ...found].join('; '));
  return advice.length === 0 ? result : { ...result, advice: advice.join('; ') };
}

export const checks: readonly Check[] = [
  { name: 'node', run: () => works(`Node ${process.versions.node}`) },
  { name: 'machine', run: cores },
  { name: 'reports', run: reports },
  { name: 'database', run: database },
  { name: 'vectors', run: vectors },
  { name: 'kernels', run: kernels },
  { name: 'dataset', run: dataset },
  { name: 'embedder', run: embedder },
  { name: 'model', run: model },
  { name: 'routing', run: routing, applies: ({ retriever }) => retriever === 'hinted' },
  // Keep last: loading a second build of llama.cpp into the process silences the log of the first.
  { name: 'devices', run: devices },
];

export async function examine(check: Check, config: BenchConfig, engines: EngineOpener): Promise<Finding> {
  try {
    return await check.run(config, engines);
  } catch (error) {
    const { message, syscall } = error as NodeJS.ErrnoException;
    const ofSystem = syscall === undefined ? 'run npm ci again, and read its messages' : diskErrorHint(error);
    const advice = error instanceof BenchError ? error.hint : ofSystem;
    return { state: 'fails', found: message.split('\n')[0]!, advice };
  }
}
