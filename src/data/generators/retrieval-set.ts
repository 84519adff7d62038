import type { SeededRandom } from '../../base/seeded-random.ts';
import { question, USER, type Relation } from './relations.ts';
import { instant, ordinal } from './wording.ts';
import {
  planRetrieval,
  type PlannedChain,
  type PlannedFact,
  type PlannedMemory,
  type RetrievalPlan,
} from './retrieval-plan.ts';

/** Kinds of questions by difficulty; for each, some retrieval strategy claims to be good at it. */
export const retrievalKinds = ['preference', 'recent', 'named-entity', 'paraphrase', 'multi-hop', 'chinese'] as const;
export type RetrievalKind = (typeof retrievalKinds)[number];

/** A memory in the form that all retrieval strategies accept. */
export interface RetrievalMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Field names of the source documents. */
  readonly metadata: {
    /** ISO 8601. */
    readonly createdAt: string;
    readonly section: string;
    readonly memory_type: PlannedMemory['memoryType'];
    readonly reinforcement: number;
    readonly preference: boolean;
  };
}

/** A question and all memories that it needs. */
export interface RetrievalQuestion {
  readonly questionId: string;
  readonly kind: RetrievalKind;
  readonly query: string;
  /** Ids, at least one. */
  readonly evidence: readonly string[];
  /** ISO 8601. */
  readonly askedAt: string;
}

/** One user of a retrieval set. */
export interface RetrievalUser {
  readonly userId: string;
  /** By age, the oldest first. */
  readonly memories: readonly RetrievalMemory[];
  readonly questions: readonly RetrievalQuestion[];
}

export interface RetrievalSetOptions {
  readonly users: number;
  /** Of each user, at least. */
  readonly memories: number;
}

const ASKED_MS = Date.UTC(2026, 5, 1, 14);
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

interface Asked {
  readonly kind: RetrievalKind;
  readonly query: string;
  readonly evidence: readonly PlannedMemory[];
}

/**
 * Draws users and questions with known evidence, four questions of every kind a user: preferences (all, or one), recent
 * statements (all, or an update), people by name and names by description, paraphrases (held-out templates), questions
 * that need two memories, and Chinese. Values and names are held out.
 */
export function retrievalQuestions(random: SeededRandom, { users, memories }: RetrievalSetOptions): RetrievalUser[] {
  return Array.from({ length: users }, (_, index) => {
    const userId = `r${ordinal(index, 2)}`;
    const plan = planRetrieval(random, memories);
    const byAge = [...plan.memories].sort((a, b) => b.ageDays - a.ageDays);
    const ids = new Map(byAge.map((memory, place) => [memory, `${userId}-m${ordinal(place, 3)}`]));
    const asked = random.shuffled([
      ...aboutPreferences(random, plan),
      ...aboutRecent(random, plan),
      ...aboutNames(random, plan),
      ...paraphrases(random, plan),
      ...plan.chains.map((chain) => acrossTwo(random, chain)),
      ...plan.chinese
        .slice(0, 4)
        .map(({ question: query, memory }): Asked => ({ kind: 'chinese', query, evidence: [memory] })),
    ]);
    return {
      userId,
      memories: byAge.map((memory) => written(memory, ids.get(memory)!)),
      questions: asked.map(({ kind, query, evidence }, place) => ({
        questionId: `${userId}-q${ordinal(place, 2)}`,
        kind,
        query,
        evidence: evidence.map((memory) => ids.get(memory)!),
        askedAt: instant(ASKED_MS + place * MINUTE_MS),
      })),
    };
  });
}

function written(
  { content, ageDays, section, memoryType, reinforcement }: PlannedMemory,
  memoryId: string,
): RetrievalMemory {
  const createdAt = instant(ASKED_MS - ageDays * DAY_MS);
  const preference = memoryType === 'preference';
  return { memoryId, content, metadata: { createdAt, section, memory_type: memoryType, reinforcement, preference } };
}

function aboutPreferences(random: SeededRandom, { preferences }: RetrievalPlan): Asked[] {
  const evidence = preferences.map(({ memory }) => memory);
  const whole = ['What are my preferences?', 'Tell me all of my preferences.', 'Which preferences have I told you?'];
  const [named, plain] = random.shuffled(preferences);
  return [
    ...random
      .shuffled(whole)
      .slice(0, 2)
      .map((query): Asked => ({ kind: 'preference', query, evidence })),
    {
      kind: 'preference',
      query: `As to my ${named!.fact.relation.attribute}: what is my preference?`,
      evidence: [named!.memory],
    },
    { kind: 'preference', query: question(random, USER, plain!.fact.relation, 'known'), evidence: [plain!.memory] },
  ];
}

function aboutRecent(random: SeededRandom, { recent, updated }: RetrievalPlan): Asked[] {
  const evidence = recent.map(({ memory }) => memory);
  const whole = [
    'What have I told you recently?',
    'What did I say in the past 7 days?',
    'What is there of recent days?',
  ];
  const lead = ['I told you just now: ', 'I mentioned it yesterday: '];
  return [
    ...random
      .shuffled(whole)
      .slice(0, 2)
      .map((query): Asked => ({ kind: 'recent', query, evidence })),
    ...updated.map(({ fact, memory }, place): Asked => ({
      kind: 'recent',
      query: lead[place]! + question(random, fact.subject, fact.relation, 'known'),
      evidence: [memory],
    })),
  ];
}

function aboutNames(random: SeededRandom, { chains, plain }: RetrievalPlan): Asked[] {
  const [first, second] = random.shuffled(chains);
  const person = ({ named, bridge, facts }: PlannedChain, query: string): Asked => ({
    kind: 'named-entity',
    query: query.replace('{}', () => named.name),
    evidence: [bridge, ...facts.map(({ memory }) => memory)],
  });
  const names = random.shuffled(
    plain.filter(({ fact }) => ['name', 'place', 'code'].includes(fact.relation.valueKind)),
  );
  const reverse = ['Where does {} come up?', 'What is {}, by the way?'];
  return [
    person(first!, 'Who is {}?'),
    person(second!, 'What do you know about {}?'),
    ...names.slice(0, 2).map(({ fact, memory }, place): Asked => ({
      kind: 'named-entity',
      query: reverse[place]!.replace('{}', () => fact.value),
      evidence: [memory],
    })),
  ];
}

function isParaphrasable({ open, questions }: Relation): boolean {
  return !open || questions.heldOut.length > 0;
}

function paraphrases(random: SeededRandom, { plain }: RetrievalPlan): Asked[] {
  const facts: readonly PlannedFact[] = random.shuffled(plain.filter(({ fact }) => isParaphrasable(fact.relation)));
  return facts.slice(0, 4).map(({ fact, memory }) => ({
    kind: 'paraphrase',
    query: question(random, fact.subject, fact.relation, 'heldOut'),
    evidence: [memory],
  }));
}

/** Asks about a relative for a fact that is stored under the relative's name only. */
function acrossTwo(random: SeededRandom, { role, bridge, facts }: PlannedChain): Asked {
  const { fact, memory } = random.pick(facts);
  const lead = random.pick(['', 'Do you recall it? ', 'I hope you remember: ']);
  const query = lead + question(random, role, fact.relation, 'known');
  return { kind: 'multi-hop', query, evidence: [bridge, memory] };
}
