/**
 * Compares prompt forms of a model, on users of a development split: `npx tsx scripts/models/sweep-prompts.ts --model smollm2-135m`. A form
 * is chosen by the score of `oracle` alone; `--arms` shows its effect on others. Prints a table in Markdown. Turns are stored in
 * --out, and an interrupted sweep continues.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BenchError, didYouMean } from '../../src/base/bench-error.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { type RunDatasets, readRunDatasets } from '../../src/data/join-datasets.ts';
import type { DatasetItem, DatasetUser } from '../../src/data/dataset.ts';
import { scoreTurn } from '../../src/eval/analysis/metrics/score-turn.ts';
import { estimateMean, estimateShare } from '../../src/eval/analysis/statistics/estimate-mean.ts';
import { differences } from '../../src/eval/analysis/statistics/observations.ts';
import { itemQuestion, memoryEntry } from '../../src/eval/run/data-to-system-input.ts';
import { resolveModelOptions } from '../../src/eval/run/plan/resolve-model-options.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Estimate } from '../../src/store/records/estimate.ts';
import { type Arm, armRegistry } from '../../src/systems/arms/arm-registry.ts';
import type { SystemParts } from '../../src/systems/answer-turn.ts';
import type { BenchSystem } from '../../src/systems/memory-system.ts';
import { isPreference } from '../../src/systems/prompt/memory-lines.ts';
import { memoriesForArm, type MemorySources } from '../../src/systems/memories-for-arm.ts';
import type { MemoryKeeper } from '../../src/systems/memory-keeper.ts';
import { foundMemories, openKeeper, openParts, storeIn } from '../open-parts.ts';
import { markdownTable, readOptions, runScript, ScratchFolder, wholeNumbers } from '../run-script.ts';
import { visibleMemories } from '../../src/data/visible-memories.ts';

const CONTEXT_TOKENS = 2_048;
const STORE_BYTES = 2 ** 30;

/** A form of prompt: its name, such as `notes general index information`, and its rules. */
interface PromptForm {
  readonly name: string;
  readonly rules: Pick<SystemParts['rules'], 'systemPrompt' | 'answerPrefix' | 'labels' | 'memoryHeader'>;
}

const systemPrompts = [
  ['helpful', 'You are a helpful assistant.'],
  ['notes', 'Answer with the exact words of the notes.'],
  ['sentence', 'Answer the question about the user in one short sentence, from what the user has said.'],
] as const;
/** The beginning of every answer with `general`; with `item` it is the item's own. */
const generalPrefix = 'According to your notes,';
/** Lines above the memories; `information` is the default line. */
const headers = [
  ['information', {}],
  ['notes', { memoryHeader: 'Notes:' }],
  ['said', { memoryHeader: 'The user has said:' }],
] as const;

/** Every combination, in the order of the parts of their names. */
const allForms: readonly PromptForm[] = systemPrompts.flatMap(([system, systemPrompt]) =>
  (['none', 'general', 'item'] as const).flatMap((use) =>
    (['index', 'bullet'] as const).flatMap((labels) =>
      headers.map(([header, memoryHeader]) => ({
        name: `${system} ${use} ${labels} ${header}`,
        rules: { systemPrompt, answerPrefix: { general: generalPrefix, use }, labels, ...memoryHeader },
      })),
    ),
  ),
);

/**
 * Finds the forms that match a pattern of four parts, instruction, answer prefix, labels and header: `notes general index information`.
 * An asterisk matches every value of a part; a missing part means its first value.
 * @throws BenchError `bad-option` if no form matches
 */
function matchForms(pattern: string): readonly PromptForm[] {
  const wanted = pattern.trim().split(/\s+/u);
  const first = allForms[0]!.name.split(' ');
  const found = allForms.filter(({ name }) =>
    name.split(' ').every((part, index) => wanted[index] === '*' || part === (wanted[index] ?? first[index])),
  );
  if (found.length > 0 && wanted.length <= first.length) return found;
  const parts = [...new Set(allForms.flatMap(({ name }) => name.split(' ')))];
  const unknown = wanted.find((part) => part !== '*' && !parts.includes(part));
  throw new BenchError(
    'bad-option',
    `--forms: no form is called "${pattern}"${unknown === undefined ? '' : didYouMean(unknown, parts)}`,
    `a form is an instruction, an answer prefix, labels and a header, of ${parts.join(', ')}; * matches all`,
  );
}

interface SweepQuestion {
  readonly user: DatasetUser;
  readonly item: DatasetItem;
}

/** Draws answerable questions evenly over the users of a development split. @throws BenchError `bad-data` for another split */
function drawQuestions({ name, parts }: RunDatasets, count: number, seed: number): SweepQuestion[] {
  if (parts.some(({ declared }) => declared.split !== 'development')) {
    const hint = 'choose one whose header says "split": "development", such as facts-en-dev';
    throw new BenchError('bad-data', `${name} is not a development split, on which forms are chosen`, hint);
  }
  const random = new SeededRandom(seed);
  const questions = parts
    .flatMap(({ users }) => users.flatMap((user) => user.items.map((item) => ({ user, item }))))
    .filter(({ item }) => item.answer !== null && item.evidence.length > 0);
  const byUser = [...Map.groupBy(random.shuffled(questions), ({ user }) => user.userId).values()];
  // One question of each user per round, so that few questions still have many users.
  const rounds = Math.max(...byUser.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) => byUser.flatMap((own) => own[round] ?? []))
    .flat()
    .slice(0, count);
}

/** The memories that a run would give its arms: those that the retriever finds nearest among all that the user had then. */
async function findMemories(keeper: MemoryKeeper, { user, item }: SweepQuestion, topK: number): Promise<MemorySources> {
  const { userId } = user;
  const all = visibleMemories(user, item).map((memory) => ({ ...memoryEntry(memory), score: 1 }));
  await keeper.reset();
  await keeper.addAll(item.itemId, userId, all);
  const options = { userId, topK, threshold: -1, now: new Date(item.askedAt), history: item.history };
  const retrieved = foundMemories((await keeper.retrieve(item.query, options)).memories);
  const evidence = all.filter(({ memoryId }) => item.evidence.includes(memoryId));
  return { retrieved, all, preferences: all.filter(isPreference), evidence, donated: [] };
}

/** A question to one arm in one form; `subject` is model, data, seed and number of memories. */
type TurnKey = Readonly<Record<'subject' | 'form' | 'arm' | 'itemId', string>>;

/** Its answer, scored. */
type SweepTurn = TurnKey & Readonly<Record<'userId' | 'category' | 'answer', string> & { contains: number }>;

const turnKey = ({ subject, form, arm, itemId }: TurnKey): string => JSON.stringify([subject, form, arm, itemId]);

/** Reads stored turns, one per line, by key; the last line of a killed process may be cut. */
function readTurns(path: string): Map<string, SweepTurn> {
  const turns = new Map<string, SweepTurn>();
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    try {
      const turn = JSON.parse(line) as SweepTurn;
      turns.set(turnKey(turn), turn);
    } catch {
      continue;
    }
  }
  return turns;
}

/** An arm that answers in one form, with its own store. */
interface FormSystem {
  readonly form: PromptForm;
  readonly arm: Arm;
  readonly system: BenchSystem;
}

async function answer({ arm, system }: FormSystem, { user, item }: SweepQuestion, sources: MemorySources) {
  const { trace, memoriesUsed } = await system.chat({
    ...itemQuestion(item, user),
    userId: user.userId,
    sessionId: item.itemId,
    history: item.history,
    ...memoriesForArm(arm.traits, sources),
  });
  const shown = memoriesUsed.map(({ memoryId, content, metadata }) => {
    const { value, relation } = metadata as { readonly value?: string; readonly relation?: string };
    return { memoryId, content, value, relation };
  });
  const ids = shown.map(({ memoryId }) => memoryId);
  const { text } = trace.answer;
  const turn = { answer: text, storedIds: ids, retrievedIds: ids, keptIds: ids, shown };
  return { answer: text, contains: scoreTurn(item, turn, user.languageProfile).contains! };
}

function estimateText(estimate: Estimate | null, signed: boolean): string {
  if (estimate === null) return '–';
  const [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map((share) => (100 * share).toFixed(0));
  return `${signed && estimate.mean > 0 ? '+' : ''}${mean} [${low}, ${high}]`;
}

/**
 * A table in Markdown: a row per form, best first arm first; a column per arm with `contains` in % and, for arms besides `oracle` and
 * `rag`, the difference to `rag` in points, with 95 % intervals over users.
 */
function sweepTable(turns: readonly SweepTurn[], arms: readonly string[]): string {
  const observe = (some: readonly SweepTurn[]) => some.map(({ userId, contains: value }) => ({ userId, value }));
  const rows = Array.from(
    Map.groupBy(turns, ({ form }) => form),
    ([form, all]) => {
      const byArm = Map.groupBy(all, ({ arm }) => arm);
      const texts = new Map((byArm.get('rag') ?? []).map(({ itemId, contains }) => [itemId, contains]));
      const cells = arms.map((arm) => {
        const own = byArm.get(arm) ?? [];
        const share = estimateText(estimateShare(observe(own)), false);
        if (arm === 'oracle' || arm === 'rag' || texts.size === 0 || own.length === 0) return share;
        const pairs = own.flatMap(({ itemId, userId, contains: a }) => {
          const b = texts.get(itemId);
          return b === undefined ? [] : [{ userId, a, b }];
        });
        return `${share}; ${estimateText(estimateMean(differences(pairs)), true)}`;
      });
      const first = byArm.get(arms[0]!) ?? [];
      return { score: estimateMean(observe(first))?.mean ?? 0, cells: [form, ...cells, String(first.length)] };
    },
  );
  const sorted = rows.toSorted((a, b) => b.score - a.score).map(({ cells }) => cells);
  return markdownTable(['form', ...arms, 'n'], sorted);
}

await runScript(async () => {
  const values = readOptions({
    model: 'smollm2-135m',
    dataset: 'facts-en-dev',
    forms: '* * index information',
    arms: 'oracle',
    questions: '40',
    memories: '5',
    seed: '7',
    threads: '1',
    out: 'reports/sweep-prompts.jsonl',
  });
  const numbers = wholeNumbers(values, { questions: 1, memories: 1, seed: 0, threads: 1 });
  const { memories, seed, threads } = numbers;
  const forms = values.forms.split(',').flatMap(matchForms);
  const arms = armRegistry.named(values.arms.split(','), { alpha: 1, gatingThreshold: 0 });
  const flags = { model: values.model, dataset: values.dataset, threads: values.threads };
  const config = loadBenchConfig({ flags, environment: {} });
  const data = await readRunDatasets(config);
  const questions = drawQuestions(data, numbers.questions, seed);
  const engines = selectEngine(config);
  const { model, embedder } = await resolveModelOptions(config, engines);

  using folder = new ScratchFolder('sweep');
  const checkpointFolder = join(folder.path, 'checkpoints');
  await using engine = await engines.open({ model, contextTokens: CONTEXT_TOKENS, threads, checkpointFolder });
  const session = await engine.openSession('sweep');
  using database = openDatabase({ path: ':memory:' });
  const parts = openParts({ engine, session }, database);
  const keeper = openKeeper(database, embedder);
  const systems = forms.flatMap((form) =>
    arms.map((arm): FormSystem => {
      const rules = { placement: 'chronological', template: 'chat', ...form.rules } as const;
      const store = join(folder.path, `${form.name} ${arm.traits.name}`.replaceAll(/\W+/gu, '-'));
      const system = arm.open({ ...parts, log: null, rules, openStore: storeIn(store, STORE_BYTES) });
      return { form, arm, system };
    }),
  );
  mkdirSync(dirname(values.out), { recursive: true });
  const stored = readTurns(values.out);
  const subject = `${engine.info.modelSha256} ${data.sha256} ${seed} ${values.memories} of ${basename(embedder)}`;
  const turns: SweepTurn[] = [];
  // All forms answer a question before the next, so that an interrupted sweep compares them on the same questions.
  for (const [index, question] of questions.entries()) {
    const { itemId, category } = question.item;
    const { userId } = question.user;
    const sources = await findMemories(keeper, question, memories);
    for (const system of systems) {
      const key = { subject, form: system.form.name, arm: system.arm.traits.name, itemId };
      let turn = stored.get(turnKey(key));
      if (turn === undefined) {
        turn = { ...key, userId, category, ...(await answer(system, question, sources)) };
        appendFileSync(values.out, `${JSON.stringify(turn)}\n`);
      }
      turns.push(turn);
    }
    process.stderr.write(`question ${index + 1} of ${questions.length}\n`);
  }
  for (const { system } of systems) await system[Symbol.asyncDispose]();
  const columns = arms.map(({ traits }) => traits.name);
  console.log(sweepTable(turns, columns));
  const categories = Map.groupBy(turns, ({ category }) => category);
  for (const category of arms.length === 1 ? [...categories.keys()].sort() : []) {
    console.log(`\n${category}\n\n${sweepTable(categories.get(category)!, columns)}`);
  }
});
