import { type Grammar, grammars } from '../../base/english-and-chinese-wordings.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { containsTokens } from '../normalise-text.ts';
import { drawQuestions, type EvaluationQuestion, planUser, WordingsExhausted } from './recall-questions.ts';
import type { EvaluationFact } from './fact-book.ts';
import { datasetText, formatTime, ordinal } from './format-generated-records.ts';
import type { WrittenItem, WrittenMemory } from '../record-schemas.ts';
import { statement } from './fact-wording.ts';

const VERSION = 2;
/** Prefixes of user ids; they differ so that one run can use both data sets. */
const userPrefixes = { en: 'u', zh: 'z' } as const;

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const FIRST_MEMORY_MS = Date.UTC(2025, 8, 1, 8);
const MEMORY_DAYS = 240;
const FIRST_QUESTION_MS = Date.UTC(2026, 5, 1, 9);
const BETWEEN_QUESTIONS_MS = 37 * MINUTE_MS;
const TRIES = 1_000;

/** Words the facts as memories, ordered by time; an update comes after the value that it replaces. */
function writeMemories(random: SeededRandom, userId: string, facts: readonly EvaluationFact[]) {
  const sentences = facts.flatMap((fact) => {
    const at = random.float();
    if (fact.oldValue === undefined) return [{ fact, value: fact.value, isUpdate: false, at }];
    return [
      { fact, value: fact.oldValue, isUpdate: false, at },
      { fact, value: fact.value, isUpdate: true, at: at + (1 - at) * (1 - random.float()) },
    ];
  });
  sentences.sort((a, b) => a.at - b.at || Number(a.isUpdate) - Number(b.isUpdate));
  const memories = new Map<WrittenMemory, EvaluationFact>();
  const ids = new Map<EvaluationFact, string>();
  for (const [index, { fact, value, isUpdate }] of sentences.entries()) {
    const memoryId = `${userId}-m${ordinal(index)}`;
    const day = ((index + 0.1 + 0.8 * random.float()) * MEMORY_DAYS) / sentences.length;
    const memory: WrittenMemory = {
      type: 'memory',
      userId,
      memoryId,
      content: statement(random, { ...fact, value }, fact.side, { update: isUpdate }),
      createdAt: formatTime(FIRST_MEMORY_MS + day * DAY_MS),
      value,
      preference: (fact.relation.preference && fact.subject.kind === 'user') || undefined,
      supersedes: isUpdate ? ids.get(fact)! : undefined,
    };
    ids.set(fact, memoryId);
    memories.set(memory, fact);
  }
  return memories;
}

function writeItem(
  userId: string,
  question: EvaluationQuestion,
  index: number,
  evidence: readonly WrittenMemory[],
): WrittenItem {
  const { query, answer, fact, category, side, history } = question;
  return {
    type: 'item',
    itemId: `${userId}-q${ordinal(index)}`,
    userId,
    query,
    answer,
    evidence: evidence.map(({ memoryId }) => memoryId),
    superseded: fact?.oldValue === undefined ? undefined : [fact.oldValue],
    category,
    phrasing: side === 'heldOut' ? 'held-out' : 'known',
    askedAt: formatTime(FIRST_QUESTION_MS + index * BETWEEN_QUESTIONS_MS),
    history: history.length === 0 ? undefined : [...history],
  };
}

/** True if no value occurs in a text where it would give an answer away. */
function isSound(memories: readonly WrittenMemory[], items: readonly WrittenItem[], { language }: Grammar): boolean {
  const holds = (text: string, value: string): boolean => containsTokens(text, value, language);
  for (const memory of memories) {
    if (memories.some((other) => other !== memory && holds(other.content, memory.value!))) return false;
  }
  return items.every(({ query, answer, evidence = [], history = [] }) => {
    if (answer === null) return true;
    const hidden = evidence.length === 0 ? memories : history;
    return !holds(query, answer) && hidden.every(({ content }) => !holds(content, answer));
  });
}

/** Draws one user: memories by creation, questions in the order in which they are asked. */
function drawUser(random: SeededRandom, grammar: Grammar, userId: string, index: number) {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const plan = planUser(random, grammar, index);
      const questions = drawQuestions(random, plan);
      const facts = writeMemories(random, userId, plan.book.facts);
      const memories = [...facts.keys()];
      const items = questions.map((question, place) => {
        const evidence = memories.filter((memory) => {
          return facts.get(memory) === question.fact && memory.value === question.fact?.value;
        });
        return writeItem(userId, question, place, evidence);
      });
      if (isSound(memories, items, grammar)) return { userId, kind: plan.kind, memories, items };
    } catch (error) {
      if (!(error instanceof WordingsExhausted)) throw error;
    }
  }
  throw new RangeError(`the grammar is too small: no sound user ${userId} in ${TRIES} draws`);
}

/**
 * Generates the bench's own data set, `recall-en` or `recall-zh`: its users with ten questions each, and the text of its file.
 * Values and names are held out; a quarter of the facts have held-out phrasings. Users alternate between recurring (four or five
 * memories) and large (24 to 40). Memories of a user contradict each other only by updates, no value occurs twice, and no
 * question contains its answer.
 */
export function makeRecallDataset(language: Grammar['language'], seed: number, count: number) {
  const random = SeededRandom.ofPublished(seed);
  const users = Array.from({ length: count }, (_, index) =>
    drawUser(random, grammars[language], userPrefixes[language] + ordinal(index), index),
  );
  const userKinds = Object.fromEntries(users.map(({ userId, kind }) => [userId, kind]));
  const records = users.flatMap(({ memories, items }) => [...memories, ...items]);
  const header = { name: `recall-${language}`, language, version: VERSION, seed, userKinds };
  return { users, text: datasetText(header, records) };
}
