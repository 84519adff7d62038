import type { Grammar } from '../../base/grammar.ts';
import { containsTokens } from '../normalise.ts';
import type { WrittenRecord } from '../schema.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { planUser, type UserPlan } from './evaluation-plan.ts';
import { drawQuestions, WordingsExhausted, type EvaluationQuestion } from './evaluation-questions.ts';
import type { EvaluationFact } from './fact-book.ts';
import { instant, ordinal } from './wording.ts';
import { statement } from './relations.ts';

type MemoryLine = Extract<WrittenRecord, { type: 'memory' }>;
type ItemLine = Extract<WrittenRecord, { type: 'item' }>;

/** One generated user: memories by creation, questions in the order in which they are asked. */
export interface EvaluationUser {
  readonly userId: string;
  readonly kind: UserPlan['kind'];
  readonly memories: readonly MemoryLine[];
  readonly items: readonly ItemLine[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const FIRST_MEMORY_MS = Date.UTC(2025, 8, 1, 8);
const MEMORY_DAYS = 240;
const FIRST_QUESTION_MS = Date.UTC(2026, 5, 1, 9);
const BETWEEN_QUESTIONS_MS = 37 * MINUTE_MS;
const TRIES = 1_000;

/** A value of a fact before it is worded; `at` is its place in the user's time, 0 to 1. */
interface Sentence {
  readonly fact: EvaluationFact;
  readonly value: string;
  readonly current: boolean;
  readonly at: number;
}

function sentencesOf(random: SeededRandom, facts: readonly EvaluationFact[]): Sentence[] {
  const sentences = facts.flatMap((fact): Sentence[] => {
    const at = random.float();
    if (fact.oldValue === undefined) return [{ fact, value: fact.value, current: true, at }];
    return [
      { fact, value: fact.oldValue, current: false, at },
      { fact, value: fact.value, current: true, at: at + (1 - at) * (1 - random.float()) },
    ];
  });
  return sentences.sort((a, b) => a.at - b.at || Number(a.current) - Number(b.current));
}

/** Writes the memories, and maps each fact to the id of the memory with its current value. */
function writeMemories(
  random: SeededRandom,
  userId: string,
  facts: readonly EvaluationFact[],
): { memories: MemoryLine[]; current: Map<EvaluationFact, string> } {
  const current = new Map<EvaluationFact, string>();
  const replaced = new Map<EvaluationFact, string>();
  const sentences = sentencesOf(random, facts);
  const memories = sentences.map(({ fact, value, current: holds }, index): MemoryLine => {
    const memoryId = `${userId}-m${ordinal(index)}`;
    (holds ? current : replaced).set(fact, memoryId);
    const update = holds && fact.oldValue !== undefined;
    const day = ((index + 0.1 + 0.8 * random.float()) * MEMORY_DAYS) / sentences.length;
    return {
      type: 'memory',
      userId,
      memoryId,
      content: statement(random, { ...fact, value }, fact.side, { update }),
      createdAt: instant(FIRST_MEMORY_MS + day * DAY_MS),
      value,
      ...(fact.relation.preference && fact.subject.kind === 'user' ? { preference: true } : {}),
      ...(update ? { supersedes: replaced.get(fact)! } : {}),
    };
  });
  return { memories, current };
}

function writeItem(userId: string, asked: EvaluationQuestion, index: number, evidence: string | undefined): ItemLine {
  const old = asked.fact?.oldValue;
  return {
    type: 'item',
    itemId: `${userId}-q${ordinal(index)}`,
    userId,
    query: asked.query,
    answer: asked.answer,
    evidence: evidence === undefined ? [] : [evidence],
    ...(old === undefined ? {} : { superseded: [old] }),
    category: asked.category,
    phrasing: asked.side === 'heldOut' ? 'held-out' : 'known',
    askedAt: instant(FIRST_QUESTION_MS + index * BETWEEN_QUESTIONS_MS),
    ...(asked.history.length === 0 ? {} : { history: [...asked.history] }),
  };
}

/** True if no value occurs in a text where it would give an answer away. */
function isSound(user: EvaluationUser, { language }: Grammar): boolean {
  const holds = (text: string, value: string): boolean => containsTokens(text, value, language);
  const apart = user.memories.every(({ memoryId, value }) =>
    user.memories.every((other) => other.memoryId === memoryId || !holds(other.content, value!)),
  );
  return (
    apart &&
    user.items.every(({ query, answer, evidence = [], history = [] }) => {
      if (answer === null) return true;
      const told = evidence.length === 0;
      const hidden = told ? user.memories : history;
      return !holds(query, answer) && hidden.every(({ content }) => !holds(content, answer));
    })
  );
}

function drawUser(random: SeededRandom, grammar: Grammar, prefix: string, index: number): EvaluationUser {
  const userId = `${prefix}${ordinal(index)}`;
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const plan = planUser(random, grammar, index);
      const questions = drawQuestions(random, plan);
      const { memories, current } = writeMemories(random, userId, plan.book.facts);
      const items = questions.map((asked, place) =>
        writeItem(userId, asked, place, asked.fact === undefined ? undefined : current.get(asked.fact)),
      );
      const user = { userId, kind: plan.kind, memories, items };
      if (isSound(user, grammar)) return user;
    } catch (error) {
      if (!(error instanceof WordingsExhausted)) throw error;
    }
  }
  throw new RangeError(`the grammar is too small: no sound user ${userId} in ${TRIES} draws`);
}

/**
 * Draws users for the evaluation, ten questions each: every value and every person's name from the held-out tenth, a
 * quarter of the facts in held-out words. Users at even places are recurring (four or five memories), the others large
 * (24 to 40). No two memories of a user contradict each other but by an update, no value occurs twice within a user,
 * and no question holds its answer.
 */
export function drawEvaluationUsers(
  random: SeededRandom,
  grammar: Grammar,
  { count, prefix }: { readonly count: number; readonly prefix: string },
): EvaluationUser[] {
  return Array.from({ length: count }, (_, index) => drawUser(random, grammar, prefix, index));
}
