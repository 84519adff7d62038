import { grammars } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { drawChineseFacts } from './chinese-facts.ts';
import { FactBook, type EvaluationFact } from './fact-book.ts';
import { canChange, drawPreference, statement, USER, type Relation, type Subject } from './relations.ts';

/** A memory of a retrieval set before ids and times are given. */
export interface PlannedMemory {
  readonly content: string;
  /** Age when the questions are asked. */
  readonly ageDays: number;
  readonly memoryType: 'preference' | 'entity' | 'fact';
  readonly section: string;
  /** Number of times that the user said it. */
  readonly reinforcement: number;
}

/** A fact and the memory with its current value. */
export interface PlannedFact {
  readonly fact: EvaluationFact;
  readonly memory: PlannedMemory;
}

/** A relative whose name one memory gives, and facts that other memories state under that name only. */
export interface PlannedChain {
  readonly role: Subject & { readonly kind: 'role' };
  readonly named: Subject & { readonly kind: 'named' };
  readonly bridge: PlannedMemory;
  readonly facts: readonly PlannedFact[];
}

/** The memories of one user of a retrieval set, grouped by the kind of question about them. */
export interface RetrievalPlan {
  readonly preferences: readonly PlannedFact[];
  /** Said in the last days, the newest first; the first is of today, the second of yesterday. */
  readonly recent: readonly PlannedFact[];
  /** Recent facts that replaced a statement of months ago. */
  readonly updated: readonly PlannedFact[];
  readonly chains: readonly PlannedChain[];
  /** All other facts, in known wordings. */
  readonly plain: readonly PlannedFact[];
  readonly chinese: readonly { readonly question: string; readonly memory: PlannedMemory }[];
  /** All memories, replaced ones included. */
  readonly memories: readonly PlannedMemory[];
}

const CHAINS = 4;
const CHAIN_FACTS = 3;
const PREFERENCES = 5;
const CHINESE_SHARE = 0.25;
/** Ages in days at the time of the questions; all within the last seven calendar days. */
const RECENT_AGES = [0.1, 1, 2.3, 3.1, 4.4, 5.2] as const;
const OLDEST_DAYS = 240;
const LEAST_OLD_DAYS = 8;

/** Plans the memories of one user, a quarter of them in Chinese. @param memories how many there are at least */
export function planRetrieval(random: SeededRandom, memories: number): RetrievalPlan {
  const planner = new Planner(random);
  const book = new FactBook(random, grammars.en, 2 * CHAINS);
  const preferences = Array.from({ length: PREFERENCES }, () => planner.preference(book));
  const chains = planner.chains(book);
  const updated = [0, 1].map((place) => {
    const relation = book.drawFree(USER, (each) => each.open && !each.preference && canChange(each));
    return planner.remember(book.add(USER, relation, 'update'), RECENT_AGES[place]);
  });
  const recent = RECENT_AGES.slice(updated.length).map((age) => planner.anything(book, age));
  const chineseCount = Math.round(memories * CHINESE_SHARE);
  const chinese = drawChineseFacts(random, chineseCount).map(({ subject, statement: content, question }) => ({
    question,
    memory: planner.keep({ content, memoryType: 'fact', section: subject }),
  }));
  const plain: PlannedFact[] = [];
  while (planner.memories.length < memories) plain.push(planner.anything(book));
  return {
    preferences,
    recent: [...updated, ...recent],
    updated,
    chains,
    plain,
    chinese,
    memories: planner.memories,
  };
}

class Planner {
  readonly #random: SeededRandom;
  readonly memories: PlannedMemory[] = [];

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  preference(book: FactBook): PlannedFact {
    for (;;) {
      const relation = drawPreference(this.#random, book.grammar);
      if (book.isFree(USER, relation)) return this.remember(book.add(USER, relation, 'plain'));
    }
  }

  /** Adds a fact about the user or about a relative. */
  anything(book: FactBook, ageDays?: number): PlannedFact {
    const roles = book.others.filter(({ kind }) => kind === 'role');
    const subject = this.#random.chance(0.4) ? this.#random.pick(roles) : USER;
    const relation = book.drawFree(subject, ({ preference }) => !preference);
    return this.remember(book.add(subject, relation, 'plain'), ageDays);
  }

  chains(book: FactBook): PlannedChain[] {
    const roles = book.others.filter((subject) => subject.kind === 'role');
    const named = book.others.filter((subject) => subject.kind === 'named');
    return roles.map((role, index): PlannedChain => {
      const person = named[index]!;
      const facts = Array.from({ length: CHAIN_FACTS }, () => {
        const relation = book.drawFree(person, (each) => book.isFree(role, each));
        // Never stated of the relative directly.
        book.reserve({ subject: role, relation });
        return this.remember(book.add(person, relation, 'plain'));
      });
      const content = `My ${role.name} is called ${person.name}.`;
      return { role, named: person, facts, bridge: this.keep({ content, memoryType: 'entity', section: person.name }) };
    });
  }

  /** Adds the memory of a fact in known wordings, and one for the value that it replaced. */
  remember(fact: EvaluationFact, ageDays?: number): PlannedFact {
    const { subject, relation, value, oldValue } = fact;
    const section = sectionOf(subject, relation);
    const memoryType = memoryTypeOf(subject, relation);
    const written = (text: string, update: boolean): string =>
      statement(this.#random, { subject, relation, value: text }, 'known', { update });
    if (oldValue !== undefined) this.keep({ content: written(oldValue, false), memoryType, section });
    return {
      fact,
      memory: this.keep({ content: written(value, oldValue !== undefined), memoryType, section, ageDays }),
    };
  }

  keep(given: {
    readonly content: string;
    readonly memoryType: PlannedMemory['memoryType'];
    readonly section: string;
    readonly ageDays?: number | undefined;
  }): PlannedMemory {
    const span = OLDEST_DAYS - LEAST_OLD_DAYS;
    const ageDays = given.ageDays ?? LEAST_OLD_DAYS + span * this.#random.float();
    let reinforcement = given.memoryType === 'preference' ? 2 : 1;
    while (this.#random.chance(0.3)) reinforcement++;
    const memory = { ...given, ageDays, reinforcement };
    this.memories.push(memory);
    return memory;
  }
}

function memoryTypeOf(subject: Subject, relation: Relation): PlannedMemory['memoryType'] {
  if (subject.kind !== 'user') return 'entity';
  return relation.preference ? 'preference' : 'fact';
}

function sectionOf(subject: Subject, relation: Relation): string {
  return subject.kind === 'user' ? relation.attribute : subject.name;
}
