import { SeededRandom } from '../../base/seeded-random.ts';
import { canChange, type Fact, type Subject, USER } from './facts-and-relations.ts';
import { datasetText, formatTime, ordinal } from './format-generated-records.ts';
import { question, statement } from './fact-wording.ts';
import { grammars } from '../../base/english-and-chinese-wordings.ts';
import { drawChineseFacts } from './chinese-facts.ts';
import { type EvaluationFact, FactBook } from './fact-book.ts';
import type { DatasetMemory } from '../dataset.ts';
import type { DatasetGenerator } from './dataset-generator.ts';

/** Kinds of questions; each is one that some retrieval strategy claims to handle well. */
export const retrievalKinds = ['preference', 'recent', 'named-entity', 'paraphrase', 'multi-hop', 'chinese'] as const;
export type RetrievalKind = (typeof retrievalKinds)[number];

const VERSION = 1;
const USERS = 30;
export const RETRIEVAL_MEMORIES = 160;

export const ASKED_MS = Date.UTC(2026, 5, 1, 14);
export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

type PlannedQuestion = readonly [query: string, evidence: readonly PlannedMemory[]];

const memoriesIn = (facts: readonly { readonly memory: PlannedMemory }[]): PlannedMemory[] =>
  facts.map(({ memory }) => memory);

/** A memory with the metadata of all retrieval strategies, in the order of the file's fields. */
export function retrievalMemory(ids: Pick<DatasetMemory, 'userId' | 'memoryId'>, atMs: number, planned: SaidMemory) {
  const { content, section, memoryType, reinforcement } = planned;
  const preference = memoryType === 'preference';
  return { ...ids, content, createdAt: formatTime(atMs), preference, section, memoryType, reinforcement };
}

/**
 * Draws users with four questions of every kind and their evidence: preferences (two ask for all, two for one), recent
 * statements (two for all, two for an updated fact), people by name and by mention, paraphrases in templates that training does
 * not use, questions that need two memories, and Chinese. Values and names do not occur in training either.
 * @param least minimum number of memories per user
 */
export function retrievalUsers(seed: number, users = USERS, least = RETRIEVAL_MEMORIES) {
  const random = new SeededRandom(seed);
  return Array.from({ length: users }, (_, index) => {
    const userId = `r${ordinal(index)}`;
    const plan = planRetrievalUser(random, least);
    const byAge = [...plan.memories].sort((a, b) => b.ageDays - a.ageDays);
    const ids = new Map(byAge.map((memory, place) => [memory, `${userId}-m${ordinal(place, 3)}`]));
    const questions: Readonly<Record<RetrievalKind, readonly PlannedQuestion[]>> = {
      preference: aboutPreferences(random, plan),
      recent: aboutRecent(random, plan),
      'named-entity': aboutNames(random, plan),
      paraphrase: paraphrases(random, plan),
      'multi-hop': plan.chains.map((chain) => acrossTwo(random, chain)),
      chinese: plan.chinese.slice(0, 4).map((fact) => [fact.question, [fact.memory]]),
    };
    const drawn = retrievalKinds.flatMap((category) =>
      questions[category].map(([query, needed]) => ({ category, query, needed })),
    );
    return {
      userId,
      memories: byAge.map((memory) =>
        retrievalMemory({ userId, memoryId: ids.get(memory)! }, ASKED_MS - memory.ageDays * DAY_MS, memory),
      ),
      questions: random.shuffled(drawn).map(({ category, query, needed }, place) => ({
        itemId: `${userId}-q${ordinal(place)}`,
        userId,
        query,
        evidence: needed.map((memory) => ids.get(memory)!),
        category,
        askedAt: formatTime(ASKED_MS + place * MINUTE_MS),
      })),
    };
  });
}

function aboutPreferences(random: SeededRandom, { preferences }: RetrievalUserPlan): PlannedQuestion[] {
  const general = ['What are my preferences?', 'Tell me all of my preferences.', 'Which preferences have I told you?'];
  const [named, plain] = random.shuffled(preferences);
  const all = random.shuffled(general).slice(0, 2);
  return [
    ...all.map((query): PlannedQuestion => [query, memoriesIn(preferences)]),
    [`As to my ${named!.fact.relation.attribute}: what is my preference?`, [named!.memory]],
    [question(random, USER, plain!.fact.relation, 'known'), [plain!.memory]],
  ];
}

function aboutRecent(random: SeededRandom, { recent, updated }: RetrievalUserPlan): PlannedQuestion[] {
  const general = [
    'What have I told you recently?',
    'What did I say in the past 7 days?',
    'What is there of recent days?',
  ];
  const leads = ['I told you just now: ', 'I mentioned it yesterday: '];
  const all = random.shuffled(general).slice(0, 2);
  return [
    ...all.map((query): PlannedQuestion => [query, memoriesIn(recent)]),
    ...updated.map(({ fact, memory }, place): PlannedQuestion => {
      return [leads[place]! + question(random, fact.subject, fact.relation, 'known'), [memory]];
    }),
  ];
}

function aboutNames(random: SeededRandom, { chains, plain }: RetrievalUserPlan): PlannedQuestion[] {
  const [first, second] = random.shuffled(chains);
  const about = ({ bridge, facts }: PlannedChain): PlannedMemory[] => [bridge, ...memoriesIn(facts)];
  const isName = ({ fact }: RetrievalUserPlan['plain'][number]): boolean =>
    ['name', 'place', 'code'].includes(fact.relation.valueKind);
  const [third, fourth] = random.shuffled(plain.filter(isName));
  return [
    [`Who is ${first!.named.name}?`, about(first!)],
    [`What do you know about ${second!.named.name}?`, about(second!)],
    [`Where does ${third!.fact.value} come up?`, [third!.memory]],
    [`What is ${fourth!.fact.value}, by the way?`, [fourth!.memory]],
  ];
}

function paraphrases(random: SeededRandom, { plain }: RetrievalUserPlan): PlannedQuestion[] {
  const facts = plain.filter(({ fact: { relation } }) => !relation.open || relation.questions.heldOut.length > 0);
  const drawn = random.shuffled(facts).slice(0, 4);
  return drawn.map(({ fact, memory }) => [question(random, fact.subject, fact.relation, 'heldOut'), [memory]]);
}

/** Asks about "my sister" for a fact that the memories state only under her name. */
function acrossTwo(random: SeededRandom, { role, bridge, facts }: PlannedChain): PlannedQuestion {
  const { fact, memory } = random.pick(facts);
  const lead = random.pick(['', 'Do you recall it? ', 'I hope you remember: ']);
  return [lead + question(random, role, fact.relation, 'known'), [bridge, memory]];
}

interface SaidMemory {
  readonly content: string;
  readonly memoryType: 'preference' | 'entity' | 'fact';
  readonly section: string;
  readonly reinforcement: number;
}

/** A memory of a retrieval set before it gets id and time. */
interface PlannedMemory extends SaidMemory {
  readonly ageDays: number;
}

interface PlannedFact {
  readonly fact: EvaluationFact;
  readonly memory: PlannedMemory;
}

/** A relative. One memory gives the name, others state facts under the name only. */
type PlannedChain = RetrievalUserPlan['chains'][number];

/**
 * The memories of one user of a retrieval set, grouped by the kind of question about them. `recent`: of the last days,
 * newest first; `updated`: recent ones that replace an older statement; `plain`: all other facts, in known wordings.
 */
type RetrievalUserPlan = ReturnType<typeof planRetrievalUser>;

const CHAINS = 4;
const CHAIN_FACTS = 3;
const PREFERENCES = 5;
const CHINESE_SHARE = 0.25;
/** Ages in days at the time of the questions; all within the last seven calendar days. */
const RECENT_AGES = [0.1, 1, 2.3, 3.1, 4.4, 5.2] as const;
const UPDATED = 2;
const OLDEST_DAYS = 240;
const MIN_OLD_DAYS = 8;

const repeat = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);

function memoryType(subject: Subject, preference: boolean): PlannedMemory['memoryType'] {
  if (subject.kind !== 'user') return 'entity';
  return preference ? 'preference' : 'fact';
}

/** Plans the memories of one user, a quarter of them in Chinese. @param least minimum number of memories */
function planRetrievalUser(random: SeededRandom, least: number) {
  const memories: PlannedMemory[] = [];
  const book = new FactBook(random, grammars.en, 2 * CHAINS);
  const roles = book.others.filter((subject) => subject.kind === 'role');
  const people = book.others.filter((subject) => subject.kind === 'named');

  function add(memory: Pick<PlannedMemory, 'content' | 'memoryType' | 'section'>, age?: number): PlannedMemory {
    const ageDays = age ?? MIN_OLD_DAYS + (OLDEST_DAYS - MIN_OLD_DAYS) * random.float();
    let reinforcement = memory.memoryType === 'preference' ? 2 : 1;
    while (random.chance(0.3)) reinforcement++;
    const planned = { ...memory, ageDays, reinforcement };
    memories.push(planned);
    return planned;
  }

  /** Adds the memory of a fact in known wordings, and one for the value that it replaced. */
  function remember(fact: EvaluationFact, ageDays?: number): PlannedFact {
    const { subject, relation, value, oldValue } = fact;
    const about = {
      memoryType: memoryType(subject, relation.preference),
      section: subject.kind === 'user' ? relation.attribute : subject.name,
    };
    const content = (said: Fact, update: boolean): string => statement(random, said, 'known', { update });
    if (oldValue !== undefined) add({ content: content({ subject, relation, value: oldValue }, false), ...about });
    const current = content({ subject, relation, value }, oldValue !== undefined);
    return { fact, memory: add({ content: current, ...about }, ageDays) };
  }

  function addAny(ageDays?: number): PlannedFact {
    const subject = random.chance(0.4) ? random.pick(roles) : USER;
    const relation = book.drawFree(subject, ({ preference }) => !preference);
    return remember(book.add(subject, relation, 'plain'), ageDays);
  }

  function addChain(role: (typeof roles)[number], named: (typeof people)[number]) {
    const facts = repeat(CHAIN_FACTS, () => {
      const relation = book.drawFree(named, (each) => book.isFree(role, each));
      // Never stated about the relative directly.
      book.reserve(role, relation);
      return remember(book.add(named, relation, 'plain'));
    });
    const content = `My ${role.name} is called ${named.name}.`;
    return { role, named, facts, bridge: add({ content, memoryType: 'entity', section: named.name }) };
  }

  const preferences = repeat(PREFERENCES, () => remember(book.addPreference('plain')));
  const chains = roles.map((role, index) => addChain(role, people[index]!));
  const updated = RECENT_AGES.slice(0, UPDATED).map((age) => {
    const relation = book.drawFree(USER, (each) => each.open && !each.preference && canChange(each));
    return remember(book.add(USER, relation, 'update'), age);
  });
  const recent = [...updated, ...RECENT_AGES.slice(UPDATED).map((age) => addAny(age))];
  const chinese = drawChineseFacts(random, Math.round(least * CHINESE_SHARE)).map((fact) => ({
    question: fact.question,
    memory: add({ content: fact.statement, memoryType: 'fact', section: fact.subject }),
  }));
  const plain: PlannedFact[] = [];
  while (memories.length < least) plain.push(addAny());
  return { preferences, recent, updated, chains, plain, chinese, memories };
}

export const retrievalData: DatasetGenerator = {
  name: 'retrieval',
  suites: ['retrieval'],
  language: 'en',
  presetUsers: USERS,
  make: async (seed, users) => {
    const records = retrievalUsers(seed, users).flatMap(({ memories, questions }) => [
      ...memories.map((memory) => ({ type: 'memory' as const, ...memory })),
      ...questions.map((question) => ({ type: 'question' as const, ...question })),
    ]);
    return datasetText({ name: 'retrieval', language: 'en', version: VERSION, seed }, records);
  },
};
