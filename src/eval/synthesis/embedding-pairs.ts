import type { SeededRandom } from '../random.ts';
import type { DocumentOptions } from './curriculum.ts';
import { drawRelation, factKey, question, statement, USER, valueOf, type Relation, type Subject } from './relations.ts';
import { drawSubjects } from './training-facts.ts';

/** Distinct memories of one user and a question for each, in the same order: what the embedder learns from. */
export function drawEmbeddingPairs(
  random: SeededRandom,
  count: number,
  options: DocumentOptions,
): { memories: string[]; questions: string[] } {
  const subjects = [0, 1, 2].flatMap(() => drawSubjects(random, 1, options.heldOut).slice(1)).concat(USER);
  const facts: { subject: Subject; relation: Relation }[] = [];
  const used = new Set<string>();
  while (facts.length < count) {
    const subject = random.chance(0.5) ? USER : random.pick(subjects);
    const near = facts.length > 0 && random.chance(0.2);
    const relation = near ? random.pick(facts).relation : drawRelation(random, 0.6, options.heldOut);
    const key = factKey(subject, relation);
    if (used.has(key)) continue;
    used.add(key);
    facts.push({ subject, relation });
  }
  return {
    memories: facts.map(({ subject, relation }) =>
      statement(random, subject, relation, valueOf(random, relation, options.heldOut), options.phrasing, {
        update: random.chance(0.15),
      }),
    ),
    questions: facts.map(({ subject, relation }) => question(random, subject, relation, options.phrasing)),
  };
}
