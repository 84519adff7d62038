/**
 * Judges the models that the bench ships on questions they were not trained on: `npm run model:evaluate`.
 * Prints a Markdown table and writes the same numbers as JSON.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { templates } from '../src/config/templates.ts';
import { EmbeddingService } from '../src/embedding/embedding-service.ts';
import { TransformersEmbedder } from '../src/embedding/transformers-embedder.ts';
import { exactMatch } from '../src/eval/metrics/exact-match.ts';
import { SeededRandom } from '../src/eval/random.ts';
import { clopperPearson } from '../src/eval/statistics/clopper-pearson.ts';
import { drawQualitySet, type QualityQuestion, type QualitySetOptions } from '../src/eval/synthesis/quality-set.ts';
import type { PhrasingSide } from '../src/eval/synthesis/relations.ts';
import { drawEmbeddingPairs } from '../src/eval/synthesis/embedding-pairs.ts';
import { LanguageModel } from '../src/llm/language-model.ts';
import type { ModelSequence } from '../src/llm/model-sequence.ts';
import { runScript, wholeNumber } from './run-script.ts';

const CONTEXT_TOKENS = 1_024;
const ANSWER_TOKENS = 32;
const MEMORIES_OF_A_USER = 200;
const TOP_K = 5;

/** A share of questions with its Clopper–Pearson interval. */
interface Row {
  readonly measure: string;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
}

function row(measure: string, outcomes: readonly boolean[]): Row {
  const hits = outcomes.filter(Boolean).length;
  const n = outcomes.length;
  return { measure, share: hits / n, ...clopperPearson(hits, n), n };
}

async function answerTo(model: LanguageModel, sequence: ModelSequence, question: QualityQuestion): Promise<string> {
  const { bosToken } = model.info;
  const texts = question.prompt.flatMap((text, index) => model.tokenizeText(text, { first: index === 0 }));
  await sequence.clear();
  const limits = { maxTokens: ANSWER_TOKENS, stopTexts: ['\n'] };
  return (await sequence.generate(bosToken === undefined ? texts : [bosToken, ...texts], limits)).text;
}

async function languageModelRows(modelPath: string, seed: number, answerable: number): Promise<Row[]> {
  await using model = await LanguageModel.load({
    modelPath,
    contextTokens: CONTEXT_TOKENS,
    threads: 1,
    sequences: 1,
  });
  const sequence = model.openSequence();
  const rows: Row[] = [];
  const abstained: boolean[] = [];
  const sets: readonly (readonly [string, Omit<QualitySetOptions, 'answerable'>])[] = [
    ['exact match, 5 memories', { memories: 5, phrasing: 'known' }],
    ['exact match, 10 memories', { memories: 10, phrasing: 'known' }],
    ['exact match, 5 memories, held-out phrasings', { memories: 5, phrasing: 'heldOut' }],
    ['exact match, no memory (0 wanted)', { memories: 5, phrasing: 'known', withoutMemories: true }],
  ];
  for (const [index, [measure, options]] of sets.entries()) {
    const right: boolean[] = [];
    for (const question of drawQualitySet(new SeededRandom(seed + index), { ...options, answerable })) {
      const answer = await answerTo(model, sequence, question);
      if (!question.absent) right.push(exactMatch(answer, [question.gold], 'en') === 1);
      else if (options.phrasing === 'known') abstained.push(exactMatch(answer, [templates.unknownAnswer], 'en') === 1);
    }
    rows.push(row(measure, right));
  }
  return [...rows, row(`absent: says "${templates.unknownAnswer}"`, abstained)];
}

function innerProduct(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

/** How many memories are at least as near to the question as its own, itself included. */
function rankOf(question: Float32Array, memories: readonly Float32Array[], own: number): number {
  const score = innerProduct(question, memories[own]!);
  return memories.filter((memory) => innerProduct(question, memory) >= score).length;
}

async function embedderRow(folder: string, seed: number, questions: number, phrasing: PhrasingSide): Promise<Row> {
  const embeddings = new EmbeddingService(() => TransformersEmbedder.open(folder));
  const random = new SeededRandom(seed);
  const found: boolean[] = [];
  while (found.length < questions) {
    const pairs = drawEmbeddingPairs(random, MEMORIES_OF_A_USER, { heldOut: true, phrasing });
    const memories = await embeddings.embedMany(pairs.memories);
    const asked = await embeddings.embedMany(pairs.questions, 'query');
    found.push(...asked.map((question, own) => rankOf(question, memories, own) <= TOP_K));
  }
  const words = phrasing === 'known' ? '' : ', held-out phrasings';
  return row(`recall@${TOP_K} among ${MEMORIES_OF_A_USER}${words}`, found);
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      model: { type: 'string', default: 'models/recall-en/recall-en-q8_0.gguf' },
      embedder: { type: 'string', default: 'models/embed-en' },
      questions: { type: 'string', default: '600' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string', default: 'models/quality.json' },
    },
  });
  const { model, embedder, out } = values;
  const seed = wholeNumber('seed', values.seed, 0);
  const questions = wholeNumber('questions', values.questions, 1);
  const rows = [
    ...(await languageModelRows(model, seed, questions)),
    await embedderRow(embedder, seed, questions, 'known'),
    await embedderRow(embedder, seed, questions, 'heldOut'),
  ];
  console.log('| measure | % | 95 % interval | n |\n|---|---|---|---|');
  for (const { measure, share, low, high, n } of rows) {
    console.log(`| ${measure} | ${percent(share)} | ${percent(low)} to ${percent(high)} | ${n} |`);
  }
  writeFileSync(out, `${JSON.stringify({ model, embedder, seed, questions, rows }, null, 2)}\n`);
});
