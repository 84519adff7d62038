/**
 * Compares our engine with transformers and kvpress on the same GGUF: KV that they made, read as `dki-external` reads it, and KV of ours
 * that transformers continues. Prints a table of the largest differences in ln p; exit 1 if one is above `--bound`.
 * `scripts/peers/compare.sh` brings what it needs.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BenchError } from '../../src/base/bench-error.ts';
import { readDataset } from '../../src/data/read-dataset.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { hashModelFile } from '../../src/engine/gguf/model-file.ts';
import { LlamaCppEngine } from '../../src/engine/llama-cpp/llama-cpp-engine.ts';
import { lnProbability, type SequenceScore, tokenProbability } from '../../src/engine/sequence-score.ts';
import type { TokenId } from '../../src/engine/token-id.ts';
import { parseEviction } from '../../src/kv/eviction-rule-and-share.ts';
import { lagFor } from '../../src/kv/eviction-scores.ts';
import { evictCells } from '../../src/kv/evict-cells.ts';
import { readExternalKv, writeExternalKv } from '../../src/kv/external-kv-file.ts';
import { readOptions, runScript, ScratchFolder, wholeNumber } from '../run-script.ts';

const options = readOptions({ python: 'python3', prompts: '8', memories: '6', threads: '2', bound: 'Infinity' }, [
  'model',
]);

const RATIO = 0.5;
const presses = ['knorm', 'keydiff', 'lagkv'] as const;
const labels = {
  full: 'full prefill by transformers, answered by ours',
  blocks: 'joined blocks with rotated keys by transformers, answered by ours',
  knorm: 'kvpress KnormPress(.5), answered by ours',
  keydiff: 'kvpress KeyDiffPress(.5), answered by ours',
  lagkv: 'kvpress LagKVPress(.5), answered by ours',
  own: 'full prefill by ours, answered by transformers',
} as const;
type Method = keyof typeof labels;

interface Prompt {
  readonly header: readonly TokenId[];
  readonly lines: readonly (readonly TokenId[])[];
  readonly question: readonly TokenId[];
  readonly answer: readonly TokenId[];
  /** Partition of LagKV. */
  readonly lag: number;
}

interface Scores {
  /** ln p of the tokens of the answer. */
  readonly answer: readonly number[];
  /** The likeliest next tokens, with ln p. */
  readonly next: readonly (readonly [TokenId, number])[];
}

interface PeerResult {
  readonly scores: Readonly<Record<Method, Scores>>;
  /** Share of the kept tokens that our rule keeps too. */
  readonly selected: Readonly<Record<(typeof presses)[number], number>>;
}

await runScript(async () => {
  const { model, python } = options;
  if (model === undefined) throw new BenchError('bad-option', 'no --model', 'name a GGUF file: --model FILE');
  const modelSha256 = await hashModelFile(model, undefined);
  const threads = wholeNumber('threads', options.threads, 1);
  await using engine = await LlamaCppEngine.open(model, { model, contextTokens: 1024, threads }, { modelSha256 });
  using folder = new ScratchFolder('peers');
  const prompts = await makePrompts(engine);
  await writeOwn(engine, prompts, folder.path);
  const script = join(import.meta.dirname, 'make_caches.py');
  const { status } = spawnSync(python, [script, resolve(model), folder.path], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new BenchError('bad-option', `${python} ${script} failed`, 'see its message above');
  const peers = JSON.parse(readFileSync(join(folder.path, 'peers.json'), 'utf8')) as readonly PeerResult[];
  const largest = await printDifferences(engine, prompts, { peers, folder: folder.path });
  if (!(largest <= Number(options.bound))) {
    console.error(`the largest difference in ln p, ${largest.toFixed(4)}, is not within --bound ${options.bound}`);
    process.exitCode = 1;
  }
});

/** Memories and first questions of users of the shipped data. */
async function makePrompts(engine: Engine): Promise<readonly Prompt[]> {
  const { users } = await readDataset(join(import.meta.dirname, '../../datasets/facts-en.jsonl'));
  const counts = {
    prompts: wholeNumber('prompts', options.prompts, 1),
    memories: wholeNumber('memories', options.memories, 2),
  };
  const { bosToken } = engine.info;
  const tokens = async (...texts: readonly string[]) =>
    await engine.tokenize(texts.map((text) => ({ text, as: 'text' as const })));
  return await Promise.all(
    users.slice(0, counts.prompts).map(async ({ memories, items }): Promise<Prompt> => {
      const { query, answer } = items.find((item) => item.answer !== null)!;
      const lines = memories.slice(0, counts.memories).map(({ content }, index) => `[${index + 1}] ${content}\n`);
      const [header = [], question = [], gold = []] = await tokens(
        'Relevant information:\n',
        `\nUser: ${query}\nAI:`,
        ` ${answer}`,
      );
      const opened = bosToken === null ? header : [bosToken, ...header];
      const lineIds = await tokens(...lines);
      const length = opened.length + lineIds.flat().length;
      return { header: opened, lines: lineIds, question, answer: gold, lag: lagFor(length) };
    }),
  );
}

function prefix({ header, lines }: Prompt): readonly TokenId[] {
  return [...header, ...lines.flat()];
}

/** Writes the prompts, our KV of their prefixes, and the same with evicted tokens. */
async function writeOwn(engine: Engine, prompts: readonly Prompt[], folder: string): Promise<void> {
  const asked = { modelSha256: engine.info.modelSha256, ratio: RATIO, prompts };
  writeFileSync(join(folder, 'prompts.json'), JSON.stringify(asked));
  await using session = await engine.openSession('own');
  for (const [number, prompt] of prompts.entries()) {
    await session.clear();
    await session.evaluate(prefix(prompt));
    using cells = await session.exportCells();
    writeFileSync(join(folder, `own-${number}.safetensors`), writeExternalKv(cells, engine));
    for (const press of presses) {
      const left = evictCells(cells, parseEviction(`${press}:.5`));
      writeFileSync(join(folder, `own-${press}-${number}.safetensors`), writeExternalKv(left, engine));
    }
  }
}

/** Prints a table. @returns the largest difference in ln p */
async function printDifferences(
  engine: Engine,
  prompts: readonly Prompt[],
  { peers, folder }: { readonly peers: readonly PeerResult[]; readonly folder: string },
): Promise<number> {
  await using session = await engine.openSession('peers');
  const answered = prompts.reduce((sum, { answer }) => sum + answer.length, 0);
  console.log(`\n${engine.info.model.name}: ${prompts.length} prompts, ${answered} tokens of answers\n`);
  console.log(
    '| KV | max Δ ln p, answer | max Δ ln p, ten likeliest next tokens | same kept tokens |\n| :- | -: | -: | -: |',
  );
  let largest = 0;
  for (const method of Object.keys(labels) as Method[]) {
    const differences = { answer: 0, next: 0 };
    for (const [number, prompt] of prompts.entries()) {
      // Of our own KV, transformers' scores are compared with ours.
      const read = await readExternalKv(join(folder, `${method}-${number}.safetensors`), engine);
      await session.importCells(read!.state);
      const own = await session.score(prompt.question, prompt.answer);
      const { answer, next } = differenceFrom(peers[number]!.scores[method], own);
      differences.answer = Math.max(differences.answer, answer);
      differences.next = Math.max(differences.next, next);
    }
    largest = Math.max(largest, differences.answer, differences.next);
    const cells = [differences.answer.toFixed(4), differences.next.toFixed(4), sameTokens(method, peers)];
    console.log(`| ${[labels[method], ...cells].join(' | ')} |`);
  }
  return largest;
}

/** Largest differences in ln p between a peer's scores and ours. */
function differenceFrom(peer: Scores, { logProbabilities, next }: SequenceScore): Record<keyof Scores, number> {
  const likeliest = peer.next.map(([token, value]) => lnProbability(tokenProbability(next, token) ?? 0) - value);
  return {
    answer: Math.max(...logProbabilities.map((value, index) => Math.abs(value - peer.answer[index]!))),
    next: Math.max(...likeliest.map(Math.abs)),
  };
}

/** Mean share of the kept tokens of a press that our rule keeps too. */
function sameTokens(method: Method, peers: readonly PeerResult[]): string {
  const press = presses.find((name) => name === method);
  if (press === undefined) return '–';
  const shares = peers.map(({ selected }) => selected[press]);
  return `${((100 * shares.reduce((sum, share) => sum + share, 0)) / shares.length).toFixed(2)} %`;
}
