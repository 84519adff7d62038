import { grammars } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { drawChineseFacts } from './chinese-facts.ts';
import { type EvaluationFact, FactBook } from './fact-book.ts';
import { canChange, type Fact, type Subject, USER } from './facts-and-relations.ts';
import { statement } from './fact-wording.ts';

/** A memory of a retrieval set before it gets id and time. */
export interface PlannedMemory {
  readonly content: string;
  readonly ageDays: number;
  readonly memoryType: 'preference' | 'entity' | 'fact';
  readonly section: string;
  readonly reinforcement: number;
}

export interface PlannedFact {
  readonly fact: EvaluationFact;
  readonly memory: PlannedMemory;
}

/** A relative. One memory gives the name, others state facts under the name only. */
export type PlannedChain = RetrievalUserPlan['chains'][number];

/**
 * The memories of one user of a retrieval set, grouped by the kind of question about them. `recent`: of the last days,
 * newest first; `updated`: recent ones that replace an older statement; `plain`: all other facts, in known wordings.
 */
export type RetrievalUserPlan = ReturnType<typeof planRetrievalUser>;

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
export function planRetrievalUser(random: SeededRandom, least: number) {
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
