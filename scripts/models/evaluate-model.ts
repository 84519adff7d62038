/**
 * Judges a language model on questions that it was not trained on: `npx tsx scripts/models/evaluate-model.ts --model recall-block`.
 * Prints the table of the model's card and writes the same numbers to `quality.json` beside the model.
 */
import { basename, dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { grammars, type Grammar } from '../../src/base/grammar.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { exactMatch } from '../../src/eval/analysis/metrics/text-overlap.ts';
import { containsTokens } from '../../src/data/normalise.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { drawQualitySet, type QualityQuestion, type QualitySetOptions } from '../train/documents/quality-set.ts';
import { composeEngine } from '../../src/bench/compose.ts';
import { greedyAnswer } from '../open-parts.ts';
import { qualityRow, writeQuality, type QualityRow } from './quality-rows.ts';
import { runScript, wholeNumber } from '../run-script.ts';

const CONTEXT_TOKENS = 2_048;
const NAMES = { en: 'English', zh: 'Chinese' } as const;
const THIRDS = ['first', 'middle', 'last'] as const;

/** Result of one question. */
interface Outcome {
  readonly question: QualityQuestion;
  readonly right: boolean;
}

/** Third of the memories that contains the answer, if one memory alone does. */
function thirdOf({ memories, gold }: QualityQuestion, language: Grammar['language']): number | undefined {
  const holding = memories.flatMap((text, index) => (containsTokens(text, gold, language) ? [index] : []));
  return holding.length === 1 ? Math.floor((3 * holding[0]!) / memories.length) : undefined;
}

/** All rows of one language. */
class LanguageReport {
  readonly #language: Grammar['language'];
  readonly #ask: (question: QualityQuestion) => Promise<string>;
  readonly #outcomes: Outcome[] = [];
  readonly #rows: QualityRow[] = [];

  constructor(language: Grammar['language'], ask: (question: QualityQuestion) => Promise<string>) {
    this.#language = language;
    this.#ask = ask;
  }

  async make(seed: number, answerable: number): Promise<QualityRow[]> {
    for (const memories of [5, 10, 20]) {
      const asked = await this.#answers(seed + memories, { answerable, memories, phrasing: 'known' });
      this.#outcomes.push(...asked);
      this.#add(`${memories} memories`, ofMemories(asked));
    }
    const heldOut = await this.#answers(seed + 1, { answerable, memories: 5, phrasing: 'heldOut' });
    this.#add('5 memories, held-out phrasings', ofMemories(heldOut));
    const bare = await this.#answers(seed + 2, { answerable, memories: 5, phrasing: 'known', withoutMemories: true });
    this.#add('no memory (0 wanted)', bare);
    const absent = this.#outcomes.filter(({ question }) => question.absent);
    this.#add(`absent: says "${grammars[this.#language].unknownAnswer}"`, absent);
    for (const kind of new Set(this.#outcomes.map(({ question }) => question.kind).toSorted())) {
      if (kind !== 'absent')
        this.#add(
          `task: ${kind}`,
          this.#outcomes.filter(({ question }) => question.kind === kind),
        );
    }
    for (const [third, name] of THIRDS.entries()) {
      const there = this.#outcomes.filter(({ question }) => thirdOf(question, this.#language) === third);
      this.#add(`evidence in the ${name} third`, ofMemories(there));
    }
    return this.#rows;
  }

  #add(measure: string, outcomes: readonly Outcome[]): void {
    if (outcomes.length === 0) return;
    this.#rows.push(
      qualityRow(
        `${NAMES[this.#language]}, ${measure}`,
        outcomes.map(({ right }) => right),
      ),
    );
  }

  async #answers(seed: number, options: Omit<QualitySetOptions, 'language'>): Promise<Outcome[]> {
    const language = this.#language;
    const outcomes: Outcome[] = [];
    for (const question of drawQualitySet(SeededRandom.ofPublished(seed), { ...options, language })) {
      const right = exactMatch(await this.#ask(question), [question.gold], language) === 1;
      outcomes.push({ question, right });
    }
    return outcomes;
  }
}

function ofMemories(outcomes: readonly Outcome[]): Outcome[] {
  return outcomes.filter(({ question }) => !question.absent);
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      model: { type: 'string', default: 'recall-base' },
      questions: { type: 'string', default: '2000' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string' },
    },
  });
  const { model } = loadBenchConfig({ flags: { model: values.model } });
  const seed = wholeNumber('seed', values.seed, 0);
  const questions = wholeNumber('questions', values.questions, 1);
  await using engine = await composeEngine().open({ model, contextTokens: CONTEXT_TOKENS, threads: 1 });
  const session = await engine.openSession('evaluation');
  const rows: QualityRow[] = [];
  for (const language of ['en', 'zh'] as const) {
    const report = new LanguageReport(language, ({ prompt }) => greedyAnswer({ engine, session }, prompt));
    rows.push(...(await report.make(seed, questions)));
  }
  writeQuality(values.out ?? dirname(model), { model: basename(model), seed, questions }, rows);
});
