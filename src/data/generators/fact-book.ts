import type { Grammar } from '../../base/grammar.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { drawRelation, USER, valueOf, type PhrasingSide, type Relation, type Subject } from './relations.ts';
import { topicKey, topicOf } from './topics.ts';
import { drawValue } from './values.ts';

/** The difficulty that a question about a fact tests. */
export type FactCategory = 'plain' | 'update' | 'several' | 'distractor';

/** A fact about a subject, with the set of wordings that states it. */
export interface EvaluationFact {
  readonly subject: Subject;
  readonly relation: Relation;
  readonly value: string;
  /** The value that an earlier memory holds and a later one replaced. */
  readonly oldValue?: string;
  readonly side: PhrasingSide;
  readonly category: FactCategory;
}

/** A subject and a relation between which nothing is known yet. */
export interface Blank {
  readonly subject: Subject;
  readonly relation: Relation;
}

const OPEN_SHARE = 0.45;
/** A quarter of all facts, since some relations have no held-out words. */
const HELD_OUT_SHARE = 0.28;
const TRIES = 200;

/** True if statement and question have held-out wordings; an open relation cannot use the generic ones. */
function hasHeldOutWordings(relation: Relation): boolean {
  return !relation.open || (relation.statements.heldOut.length > 0 && relation.questions.heldOut.length > 0);
}

/** True for a relation that makes no sense for a subject, such as "my sister's sister". */
function isOddAbout(subject: Subject, relation: Relation): boolean {
  if (subject.kind !== 'role') return false;
  const { attribute, grammar } = relation;
  return grammar.language === 'en' ? attribute.split(/[' ]/).includes(subject.name) : attribute.includes(subject.name);
}

/** Draws the facts of one user so that no two can be confused and no value occurs twice. */
export class FactBook {
  readonly grammar: Grammar;
  readonly #random: SeededRandom;
  readonly #facts: EvaluationFact[] = [];
  readonly #topics = new Set<string>();
  readonly #values = new Set<string>();
  /** Relatives, colleagues and people by name, each different. */
  readonly others: readonly Subject[];

  constructor(random: SeededRandom, grammar: Grammar, others: number) {
    this.grammar = grammar;
    this.#random = random;
    const roles = random.shuffled(grammar.roles);
    this.others = Array.from({ length: others }, (_, index) =>
      index % 2 === 0
        ? { kind: 'role', name: roles.pop()! }
        : { kind: 'named', name: this.#unused(() => drawValue(random, grammar, 'name', true)) },
    );
  }

  get facts(): readonly EvaluationFact[] {
    return this.#facts;
  }

  /** Number of memories that the facts need: two for a replaced fact. */
  get memories(): number {
    return this.#facts.length + this.#facts.filter((fact) => fact.oldValue !== undefined).length;
  }

  /** True if no known fact of the subject can be confused with this relation. */
  isFree(subject: Subject, relation: Relation): boolean {
    return !this.#topics.has(topicKey(subject, relation)) && !isOddAbout(subject, relation);
  }

  /** True if no fact, of any subject, has this topic. */
  isNewTopic(relation: Relation): boolean {
    return this.#facts.every((fact) => topicOf(fact.relation) !== topicOf(relation));
  }

  /** Draws a relation that is free for the subject; `wanted` is given up after many tries. */
  drawFree(subject: Subject, wanted: (relation: Relation) => boolean = () => true): Relation {
    for (let tries = 0; ; tries++) {
      const relation = drawRelation(this.#random, this.grammar, OPEN_SHARE, true);
      if (this.isFree(subject, relation) && (tries >= TRIES || wanted(relation))) return relation;
    }
  }

  /** Excludes a subject's topic from later draws. */
  reserve({ subject, relation }: Blank): void {
    this.#topics.add(topicKey(subject, relation));
  }

  drawSide(relation: Relation): PhrasingSide {
    return this.#random.chance(HELD_OUT_SHARE) && hasHeldOutWordings(relation) ? 'heldOut' : 'known';
  }

  /** Draws a held-out value that was not drawn before. */
  drawValue(relation: Relation): string {
    return this.#unused(() => valueOf(this.#random, relation, true));
  }

  add(subject: Subject, relation: Relation, category: FactCategory): EvaluationFact {
    this.reserve({ subject, relation });
    const fact: EvaluationFact = {
      subject,
      relation,
      value: this.drawValue(relation),
      ...(category === 'update' ? { oldValue: this.drawValue(relation) } : {}),
      side: this.drawSide(relation),
      category,
    };
    this.#facts.push(fact);
    return fact;
  }

  /** Draws the user, or with the given probability another subject. */
  drawSubject(othersShare: number): Subject {
    return this.#random.chance(othersShare) && this.others.length > 0 ? this.#random.pick(this.others) : USER;
  }

  #unused(draw: () => string): string {
    for (;;) {
      const value = draw();
      if (this.#values.has(value.toLowerCase())) continue;
      this.#values.add(value.toLowerCase());
      return value;
    }
  }
}
