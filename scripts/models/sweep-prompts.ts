/**
 * Compares forms of asking a model, on users of a development split: `npx tsx scripts/models/sweep-prompts.ts --model smollm2-135m`. A form
 * is chosen by the score of `oracle` alone; `--arms` shows what it gives others. Prints a table in Markdown.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { composeEngine } from '../../src/bench/compose.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { readRunDatasets } from '../../src/data/run-datasets.ts';
import { openDatabase } from '../../src/store/database.ts';
import { scoreTurn } from '../../src/eval/analysis/metrics/scores.ts';
import { withFetchedModels } from '../../src/eval/run/plan/fetch-models.ts';
import { type Arm, armRegistry } from '../../src/systems/arms/arm-registry.ts';
import { givenMemories } from '../../src/systems/retrieve.ts';
import type { BenchSystem } from '../../src/systems/contracts.ts';
import { isPreference } from '../../src/systems/prompt/select.ts';
import { foundMemories, openParts, storeIn } from '../open-parts.ts';
import { runScript, wholeNumber } from '../run-script.ts';
import { type AskedTurn, AskedTurns } from './sweep/asked-turns.ts';
import { formsNamed, type PromptFormCandidate } from './sweep/prompt-forms.ts';
import { type SweepQuestion, sweepQuestions } from './sweep/sweep-questions.ts';
import { sweepTable } from './sweep/sweep-table.ts';

const CONTEXT_TOKENS = 2_048;
const STORE_BYTES = 2 ** 30;
const ARM_DEFAULTS = { alpha: 1, gatingThreshold: 0 };

/** An arm that answers in one form; each form has a store of its own. */
interface FormSystem {
  readonly form: PromptFormCandidate;
  readonly arm: Arm;
  readonly system: BenchSystem;
}

async function answerOf({ arm, system }: FormSystem, { user, item, evidence, memories }: SweepQuestion) {
  const { userId, languageProfile } = user;
  const sources = {
    retrieved: foundMemories(memories),
    all: memories,
    preferences: memories.filter(isPreference),
    evidence,
    donated: [],
  };
  const { trace, memoriesUsed } = await system.chat({
    ...{ query: item.query, userId, sessionId: item.itemId, history: item.history },
    ...(item.answerPrefix === undefined ? {} : { answerPrefix: item.answerPrefix }),
    ...givenMemories(arm.traits, sources),
  });
  const shown = memoriesUsed.map(({ memoryId, content, metadata }) => ({
    ...{ memoryId, content },
    value: metadata['value'] as string | undefined,
    relation: metadata['relation'] as string | undefined,
  }));
  const ids = shown.map(({ memoryId }) => memoryId);
  const { text: answer } = trace.answer;
  const turn = { answer, storedIds: ids, retrievedIds: ids, keptIds: ids, shown };
  return { answer, contains: scoreTurn(item, turn, languageProfile).contains! };
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      model: { type: 'string', default: 'smollm2-135m' },
      dataset: { type: 'string', default: 'facts-en-dev' },
      forms: { type: 'string', default: '* * index information' },
      arms: { type: 'string', default: 'oracle' },
      questions: { type: 'string', default: '40' },
      memories: { type: 'string', default: '5' },
      seed: { type: 'string', default: '7' },
      threads: { type: 'string', default: '1' },
      out: { type: 'string', default: 'reports/sweep-prompts.jsonl' },
    },
  });
  const number = (option: 'questions' | 'memories' | 'seed' | 'threads', least = 1): number =>
    wholeNumber(option, values[option], least);
  const { model: name, dataset, threads } = values;
  const forms = values.forms.split(',').flatMap(formsNamed);
  const arms = armRegistry.named(values.arms.split(','), ARM_DEFAULTS);
  const named = loadBenchConfig({ flags: { model: name, dataset, threads }, environment: {} });
  const data = await readRunDatasets(named);
  const seed = number('seed', 0);
  const questions = sweepQuestions(data, number('questions'), { memories: number('memories'), seed });
  const engines = composeEngine(named);
  const { model } = await withFetchedModels(named, engines);

  const folder = mkdtempSync(join(tmpdir(), 'dki-bench-sweep-'));
  try {
    await using engine = await engines.open({
      ...{ model, contextTokens: CONTEXT_TOKENS, threads: number('threads') },
      checkpointFolder: join(folder, 'checkpoints'),
    });
    const session = await engine.openSession('sweep');
    using database = openDatabase({ path: ':memory:' });
    const parts = openParts({ engine, session }, database);
    const systems = forms.flatMap((form) =>
      arms.map((arm): FormSystem => {
        const rules = { placement: 'chronological', template: 'chat', ...form.rules } as const;
        const openStore = storeIn(
          join(folder, `${form.name} ${arm.traits.name}`.replaceAll(/\W+/gu, '-')),
          STORE_BYTES,
        );
        return {
          form,
          arm,
          system: arm.open({ ...parts, log: null, rules, openStore }),
        };
      }),
    );
    mkdirSync(dirname(values.out), { recursive: true });
    const known = new AskedTurns(values.out);
    const subject = `${engine.info.modelSha256} ${data.sha256} ${seed} ${values.memories}`;
    const turns: AskedTurn[] = [];
    // Question by question, so that every form has been asked the same ones whenever it is cut short.
    for (const [index, question] of questions.entries()) {
      for (const system of systems) {
        const { itemId, userId, category } = { ...question.item, userId: question.user.userId };
        const key = { subject, form: system.form.name, arm: system.arm.traits.name, itemId };
        const turn = known.find(key) ?? { ...key, userId, category, ...(await answerOf(system, question)) };
        if (known.find(key) === undefined) known.add(turn);
        turns.push(turn);
      }
      process.stderr.write(`question ${index + 1} of ${questions.length}\n`);
    }
    for (const { system } of systems) await system[Symbol.asyncDispose]();
    const categories = [...new Set(turns.map(({ category }) => category))].sort();
    const columns = arms.map(({ traits }) => traits.name);
    console.log(sweepTable(turns, columns));
    for (const category of arms.length === 1 ? categories : []) {
      console.log(
        `\n${category}\n\n${sweepTable(
          turns.filter((turn) => turn.category === category),
          columns,
        )}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
