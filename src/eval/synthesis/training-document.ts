import { templates } from '../../config/templates.ts';
import {
  historySegments,
  memoryFooterSegment,
  memoryHeaderSegment,
  memorySegment,
  querySegments,
  systemSegment,
  type LabelStyle,
} from '../../systems/prompt/segments.ts';
import type { SeededRandom } from '../random.ts';
import type { Curriculum, DocumentOptions, TrainingLayout } from './curriculum.ts';
import { drawFacts, drawSubjects, statementsOf, type QuestionKind } from './training-facts.ts';
import { QuestionSource } from './training-questions.ts';

/** A dialogue as lists of segment texts, each of which is tokenised alone; BOS comes before the header. */
export interface TrainingDocument {
  readonly layout: TrainingLayout;
  readonly header: readonly string[];
  readonly memories: readonly string[];
  readonly questions: readonly {
    readonly suffix: readonly string[];
    readonly answer: string;
    readonly kind: QuestionKind;
  }[];
}

function drawLayout(random: SeededRandom, weights: Curriculum['layouts']): TrainingLayout {
  let left = random.float();
  for (const [layout, weight] of Object.entries(weights) as [TrainingLayout, number][]) {
    left -= weight;
    if (left < 0) return layout;
  }
  return 'text';
}

/** One to `maxMemories`, now and then up to twice as many. */
function drawSize(random: SeededRandom, { longShare, maxMemories }: Curriculum): number {
  return random.chance(longShare) ? random.int(maxMemories + 1, 2 * maxMemories) : random.int(1, maxMemories);
}

/** One document of a curriculum level: a user's memories and several independent questions about them. */
export function drawTrainingDocument(
  random: SeededRandom,
  level: Curriculum,
  options: DocumentOptions,
): TrainingDocument {
  const layout = options.layout ?? drawLayout(random, level.layouts);
  const size = drawSize(random, level);
  const subjects = drawSubjects(random, level.others, options.heldOut);
  const facts = drawFacts(random, options.memories ?? size, level, subjects, options.heldOut);
  const memories = statementsOf(random, facts, level, options);
  const labels: LabelStyle = random.chance(0.15) ? 'bullet' : 'index';
  const source = new QuestionSource(random, { facts, subjects, layout, level, options });
  const bare = layout === 'none';

  const questions = Array.from({ length: Math.min(10, Math.max(2, Math.round(facts.length * 0.9))) }, (_, place) => {
    const { history, query, answer, kind } = source.draw(place);
    const suffix = [...(bare ? [] : [memoryFooterSegment]), ...historySegments(history), ...querySegments(query)];
    return { suffix: suffix.map((segment) => segment.text), answer, kind };
  });
  const prompts = templates.systemPrompts;
  const system = systemSegment(random.chance(0.6) ? prompts[0]! : random.pick(prompts));
  const header = bare ? [system] : [system, memoryHeaderSegment];
  return {
    layout,
    header: header.map((segment) => segment.text),
    memories: bare ? [] : memories.map((text, index) => memorySegment('', text, index + 1, labels).text),
    questions,
  };
}
