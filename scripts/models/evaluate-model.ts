/**
 * Judges a language model on questions that it was not trained on: `npx tsx scripts/models/evaluate-model.ts --model recall-block`.
 * Prints the table of the model's card and writes the same numbers to `quality.json` beside the model.
 */
import { basename, dirname } from 'node:path';
import { grammars, type Grammar } from '../../src/base/english-and-chinese-wordings.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { exactMatch } from '../../src/eval/analysis/metrics/text-overlap.ts';
import { containsTokens } from '../../src/data/normalise-text.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { drawQualitySet, type QualityQuestion, type QualitySetOptions } from '../train/documents/quality-set.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { greedyAnswer } from '../open-parts.ts';
import { qualityRow, writeQuality, type QualityRow } from './quality-rows.ts';
import { readOptions, runScript, wholeNumbers } from '../run-script.ts';

const CONTEXT_TOKENS = 2_048;
const NAMES = { en: 'English', zh: 'Chinese' } as const;

interface Outcome {
  readonly question: QualityQuestion;
  readonly right: boolean;
}

/** Third of the memories that contains the answer, if one memory alone does. */
function thirdOf({ memories, gold }: QualityQuestion, language: Grammar['language']): number | undefined {
  const holding = memories.flatMap((text, index) => (containsTokens(text, gold, language) ? [index] : []));
  return holding.length === 1 ? Math.floor((3 * holding[0]!) / memories.length) : undefined;
}

async function languageRows(
  language: Grammar['language'],
  ask: (question: QualityQuestion) => Promise<string>,
  seed: number,
  answerable: number,
): Promise<QualityRow[]> {
  const outcomesOf = async (offset: number, options: Partial<QualitySetOptions>): Promise<Outcome[]> => {
    const set = { answerable, memories: 5, phrasing: 'known', language, ...options } as const;
    const outcomes: Outcome[] = [];
    for (const question of drawQualitySet(SeededRandom.ofPublished(seed + offset), set)) {
      outcomes.push({ question, right: exactMatch(await ask(question), [question.gold], language) === 1 });
    }
    return outcomes;
  };
  const rows: QualityRow[] = [];
  const add = (measure: string, outcomes: readonly Outcome[], suits: (question: QualityQuestion) => boolean): void => {
    const suiting = outcomes.filter(({ question }) => suits(question)).map(({ right }) => right);
    if (suiting.length > 0) rows.push(qualityRow(`${NAMES[language]}, ${measure}`, suiting));
  };
  const all: Outcome[] = [];
  for (const memories of [5, 10, 20]) {
    const outcomes = await outcomesOf(memories, { memories });
    all.push(...outcomes);
    add(`${memories} memories`, outcomes, isAnswerable);
  }
  add('5 memories, held-out phrasings', await outcomesOf(1, { phrasing: 'heldOut' }), isAnswerable);
  add('no memory (0 wanted)', await outcomesOf(2, { withoutMemories: true }), () => true);
  add(`absent: says "${grammars[language].unknownAnswer}"`, all, ({ absent }) => absent);
  for (const kind of new Set(all.map(({ question }) => question.kind).toSorted())) {
    if (kind !== 'absent') add(`task: ${kind}`, all, (question) => question.kind === kind);
  }
  for (const [third, name] of ['first', 'middle', 'last'].entries()) {
    add(`evidence in the ${name} third`, all, (one) => isAnswerable(one) && thirdOf(one, language) === third);
  }
  return rows;
}

const isAnswerable = ({ absent }: QualityQuestion): boolean => !absent;

await runScript(async () => {
  const values = readOptions({ model: 'recall-base', questions: '2000', seed: '1' }, ['out']);
  const { model } = loadBenchConfig({ flags: { model: values.model } });
  const { seed, questions } = wholeNumbers(values, { seed: 0, questions: 1 });
  await using engine = await selectEngine().open({ model, contextTokens: CONTEXT_TOKENS, threads: 1 });
  const session = await engine.openSession('evaluation');
  const ask = ({ prompt }: QualityQuestion): Promise<string> => greedyAnswer({ engine, session }, prompt);
  const rows = [
    ...(await languageRows('en', ask, seed, questions)),
    ...(await languageRows('zh', ask, seed, questions)),
  ];
  writeQuality(values.out ?? dirname(model), { model: basename(model), seed, questions }, rows);
});
