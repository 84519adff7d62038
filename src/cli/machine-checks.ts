import { accessSync, constants, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../config/bench-error.ts';
import { openDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import { TransformersEmbedder } from '../embedding/transformers-embedder.ts';
import { readAskedData } from '../eval/dataset/asked-data.ts';
import { LanguageModel } from '../llm/language-model.ts';
import { modelPathOf } from '../llm/random-model/random-model.ts';
import { LlamaQueryModel } from '../memory/strategies/hinted/llama-query-model.ts';
import { assessRouting, describeAbility } from '../memory/strategies/hinted/pre-retrieval/model-route.ts';
import { routeExamples } from '../memory/strategies/hinted/route-examples.ts';
import { chooseVectorBackend } from '../memory/vector-backend.ts';
import { promptFormOf } from '../systems/prompt/chat-form.ts';
import { shownPath } from './command-line.ts';

/** What a check found; `warning` where the bench runs all the same. */
export interface Finding {
  readonly state: 'works' | 'warning' | 'fails';
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** One thing that the bench needs, tried out. */
export interface Check {
  readonly name: string;
  readonly run: (config: BenchConfig) => Finding | Promise<Finding>;
}

const leastNode = [20, 19] as const;
const roomyBytes = 2 ** 30;
const gibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** The folder, or the nearest above it that is there. */
function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const found = `Node ${process.versions.node}`;
  if (major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1])) return { state: 'works', found };
  return { state: 'fails', found, advice: `install Node ${leastNode.join('.')} or newer` };
}

function cores(): Finding {
  const count = availableParallelism();
  const found = `${count} ${count === 1 ? 'core' : 'cores'}, ${gibibytes(freemem())} of memory free`;
  return count > 1
    ? { state: 'works', found }
    : { state: 'warning', found, advice: 'times will vary more; let nothing else run' };
}

function reports({ out }: BenchConfig): Finding {
  const folder = nearestFolder(out);
  accessSync(folder, constants.W_OK | constants.X_OK);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const found = `${shownPath(out)} can be written, ${gibibytes(free)} free`;
  return free >= roomyBytes
    ? { state: 'works', found }
    : { state: 'warning', found, advice: 'a long run may need 1 GiB' };
}

function database(): Finding {
  const folder = mkdtempSync(join(tmpdir(), 'dki-doctor-'));
  try {
    using opened = openDatabase({ path: join(folder, 'doctor.sqlite') });
    const runs = new RunRepository(opened).list().length;
    return { state: 'works', found: `better-sqlite3 made a database with ${runs} runs` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function vectors(): Finding {
  const { backend, passedOver } = chooseVectorBackend();
  const found = `${backend.name} ${backend.version} searched rightly`;
  if (backend.name.startsWith('faiss')) return { state: 'works', found };
  const reasons = passedOver.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  return {
    state: 'warning',
    found: `${found} in place of FAISS (${reasons})`,
    advice: 'results are the same; for FAISS: apt-get install libfaiss-dev libopenblas-dev g++, then npm rebuild',
  };
}

async function embedder({ embedder: folder }: BenchConfig): Promise<Finding> {
  const opened = await TransformersEmbedder.open(folder);
  const [vector] = await opened.embed(['Where does my sister live?']);
  const { name, dimension } = opened.info;
  if (vector?.length !== dimension || !vector.every(Number.isFinite) || vector.every((value) => value === 0)) {
    return {
      state: 'fails',
      found: `${name} gave no vector of ${dimension} numbers`,
      advice: 'name another with --embedder',
    };
  }
  return { state: 'works', found: `${name} embedded a sentence in ${dimension} numbers` };
}

async function dataset({ dataset: files }: BenchConfig): Promise<Finding> {
  const { name, parts } = await readAskedData(files);
  const users = parts.flatMap((part) => part.users);
  const items = users.reduce((sum, user) => sum + user.items.length, 0);
  return { state: 'works', found: `${name}: ${items} items of ${users.length} users` };
}

async function model({ model: name, contextTokens, threads }: BenchConfig): Promise<Finding> {
  await using loaded = await LanguageModel.load({
    modelPath: await modelPathOf(name),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(threads === undefined ? {} : { threads }),
  });
  await using sequence = loaded.openSequence();
  const { info } = loaded;
  const prompt = [
    ...(info.bosToken === undefined ? [] : [info.bosToken]),
    ...loaded.tokenizeText('User: hello\n\nAI:', { first: true }),
  ];
  const { tokens } = await sequence.generate(prompt, { maxTokens: 8 });
  const problem = chatProblem(loaded);
  const engine = `llama.cpp ${info.backend.llamaCppRelease}, node-llama-cpp ${info.backend.nodeLlamaCpp}`;
  const found = `${info.name} answered a prompt with ${tokens.length} tokens (${engine})`;
  return problem === undefined
    ? { state: 'works', found }
    : { state: 'warning', found: `${found}; ${problem.message}`, advice: problem.hint };
}

/** Why the chat template of a model that has one cannot be used. */
function chatProblem(loaded: LanguageModel): BenchError | undefined {
  if (loaded.info.chatTemplate === undefined) return undefined;
  try {
    promptFormOf('chat', loaded);
    return undefined;
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
}

/** Whether the model can choose how to search, for `--retriever hinted` with `"route_strategy": "llm"`. */
async function routing({ model: name, contextTokens, threads }: BenchConfig): Promise<Finding> {
  const advice = 'hinted takes its default strategy then, and counts how often: route by keyword or classifier';
  try {
    await using loaded = await LanguageModel.load({
      modelPath: await modelPathOf(name),
      ...(contextTokens === undefined ? {} : { contextTokens }),
      ...(threads === undefined ? {} : { threads }),
    });
    await using queryModel = new LlamaQueryModel(loaded);
    const ability = await assessRouting(queryModel, routeExamples.test);
    const found = describeAbility(queryModel.name, ability);
    return ability.able ? { state: 'works', found } : { state: 'warning', found, advice };
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return { state: 'warning', found: `no model to route questions: ${error.message}`, advice };
  }
}

/** All that the bench needs, the cheap things first. */
export const checks: readonly Check[] = [
  { name: 'node', run: node },
  { name: 'machine', run: cores },
  { name: 'reports', run: reports },
  { name: 'database', run: database },
  { name: 'vectors', run: vectors },
  { name: 'dataset', run: dataset },
  { name: 'embedder', run: embedder },
  { name: 'model', run: model },
  { name: 'routing', run: routing },
];

/** Runs a check; what it throws is what it found. */
export async function examine(check: Check, config: BenchConfig): Promise<Finding> {
  try {
    return await check.run(config);
  } catch (error) {
    const { message } = error as Error;
    const advice = error instanceof BenchError ? error.hint : 'run npm ci again, and see its messages';
    return { state: 'fails', found: message.split('\n')[0]!, advice };
  }
}
