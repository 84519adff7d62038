import { grammars, type Grammar } from '../../../src/base/english-and-chinese-wordings.ts';
import { memoryHeader } from '../../../src/systems/prompt/prompt-form.ts';
import { memorySegment, type LabelStyle } from '../../../src/systems/prompt/memory-lines.ts';
import {
  historySegments,
  memoryFooterSegment,
  querySegments,
  systemSegment,
} from '../../../src/systems/prompt/plain-form.ts';
import type { SeededRandom } from '../../../src/base/seeded-random.ts';
import {
  LANGUAGES,
  LAYOUTS,
  RECOMPUTED_TOKENS,
  weighted,
  type Curriculum,
  type DocumentOptions,
  type TrainingLayout,
} from './curriculum.ts';
import { drawFacts, drawSubjects, statementsOf, type QuestionKind } from './training-facts.ts';
import { questionSource } from './training-questions.ts';
import { drawTasks } from './training-tasks.ts';

/** A dialogue as lists of segment texts, each of which is tokenised alone; BOS comes before the header. */
export interface TrainingDocument {
  readonly language: Grammar['language'];
  readonly layout: TrainingLayout;
  /** Layout `link`: recomputed tokens of every memory but the first. */
  readonly linked?: number;
  readonly header: readonly string[];
  readonly memories: readonly string[];
  readonly questions: readonly {
    readonly suffix: readonly string[];
    readonly answer: string;
    readonly kind: QuestionKind;
  }[];
}

/** Draws one document of a curriculum level: a user's memories and several independent questions about them. */
export function drawTrainingDocument(
  random: SeededRandom,
  level: Curriculum,
  options: DocumentOptions,
): TrainingDocument {
  const language = options.language ?? weighted(random, LANGUAGES);
  const grammar = grammars[language];
  const layout = options.layout ?? weighted(random, LAYOUTS[options.stage ?? 'block']);
  const bare = layout === 'none';
  const size = options.memories ?? random.int(...weighted(random, level.sizes));
  const taskCount = bare ? 0 : random.pick(level.tasks);
  const tasks = drawTasks(random, grammar, { count: taskCount, kinds: level.kinds }, options);
  const ofTasks = tasks.flatMap(({ lines }) => lines);
  const subjects = drawSubjects(random, grammar, level.others, options.heldOut);
  const factCount = Math.max(1, size - ofTasks.length);
  const told = tasks.flatMap(({ keys }) => keys);
  const facts = drawFacts(random, { grammar, count: factCount, level, subjects, heldOut: options.heldOut, told });
  const lines = [...ofTasks, ...statementsOf(random, facts, level, options)].sort((a, b) => a.at - b.at);
  const labels: LabelStyle = random.chance(0.15) ? 'bullet' : 'index';
  const drawQuestion = questionSource(random, { grammar, facts, tasks, subjects, layout, level, options });

  const count = Math.min(16, tasks.length + Math.max(2, Math.round(facts.length * 0.9)));
  const questions = Array.from({ length: count }, (_, place) => {
    const { history, query, answer, kind } = drawQuestion(place);
    const suffix = [...(bare ? [] : [memoryFooterSegment]), ...historySegments(history), ...querySegments(query)];
    return { suffix: suffix.map((segment) => segment.text), answer, kind };
  });
  // The bench's own prompt, which is English, more often than others.
  const prompt = random.chance(0.6) ? grammars.en.systemPrompts[0]! : random.pick(grammar.systemPrompts);
  const system = systemSegment(prompt);
  const header = bare ? [system] : [system, memoryHeader()];
  return {
    language,
    layout,
    ...(layout === 'link' ? { linked: random.pick(RECOMPUTED_TOKENS) } : {}),
    header: header.map((segment) => segment.text),
    memories: bare ? [] : lines.map(({ text }, index) => memorySegment('', text, index + 1, labels).text),
    questions,
  };
}
