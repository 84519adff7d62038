import type { Grammar } from '../../base/english-and-chinese-wordings.ts';
import type { SeededRandom } from '../../base/seeded-random.ts';
import { drawPreference, drawRelation, drawRelationValue, relationTopic } from './facts-and-relations.ts';
import { type Fact, type PhrasingSide, type Relation, type Subject, topicKey, USER } from './facts-and-relations.ts';
import { drawValue } from './draw-value.ts';
import { exchange } from './format-generated-records.ts';
import { statement } from './fact-wording.ts';

export type FactCategory = 'plain' | 'update' | 'several' | 'distractor';

export interface EvaluationFact extends Fact {
  /** The value that an earlier memory holds and a later one replaced. */
  readonly oldValue?: string;
  readonly side: PhrasingSide;
  readonly category: FactCategory;
}

const OPEN_SHARE = 0.45;
/** Above a quarter, so that a quarter of all facts get held-out wordings although some relations have none. */
const HELD_OUT_SHARE = 0.28;
const TRIES = 200;

/** True for a relation that makes no sense for a subject, such as "my sister's sister". */
function isOddAbout(subject: Subject, { attribute, grammar }: Relation): boolean {
  if (subject.kind !== 'role') return false;
  return grammar.language === 'en' ? attribute.split(/[' ]/).includes(subject.name) : attribute.includes(subject.name);
}

/** Draws the facts of one user so that no two can be confused and no value occurs twice. */
export class FactBook {
  readonly grammar: Grammar;
  readonly #random: SeededRandom;
  readonly facts: EvaluationFact[] = [];
  readonly #topics = new Set<string>();
  readonly #values = new Set<string>();
  /** Alternately a relative or colleague and a named person, all different. */
  readonly others: readonly Subject[];

  constructor(random: SeededRandom, grammar: Grammar, others: number) {
    this.grammar = grammar;
    this.#random = random;
    const roles = random.shuffled(grammar.roles);
    this.others = Array.from({ length: others }, (_, index) =>
      index % 2 === 0
        ? { kind: 'role', name: roles.pop()! }
        : { kind: 'named', name: this.#drawUnused(() => drawValue(random, grammar, 'name', true)) },
    );
  }

  /** True if no known fact of the subject can be confused with this relation. */
  isFree(subject: Subject, relation: Relation): boolean {
    return !this.#topics.has(topicKey(subject, relation)) && !isOddAbout(subject, relation);
  }

  isNewTopic(relation: Relation): boolean {
    return this.facts.every((fact) => relationTopic(fact.relation) !== relationTopic(relation));
  }

  /** Draws a relation that is free for the subject; `wanted` is ignored after many tries. */
  drawFree(subject: Subject, wanted: (relation: Relation) => boolean = () => true): Relation {
    for (let tries = 0; ; tries++) {
      const relation = drawRelation(this.#random, this.grammar, OPEN_SHARE, true);
      if (this.isFree(subject, relation) && (tries >= TRIES || wanted(relation))) return relation;
    }
  }

  reserve(subject: Subject, relation: Relation): void {
    this.#topics.add(topicKey(subject, relation));
  }

  /** Draws held-out wordings for some relations that have them; an open relation cannot use the generic ones. */
  drawSide({ open, statements, questions }: Relation): PhrasingSide {
    const isHeldOut = this.#random.chance(HELD_OUT_SHARE);
    return isHeldOut && (!open || (statements.heldOut.length > 0 && questions.heldOut.length > 0))
      ? 'heldOut'
      : 'known';
  }

  add(subject: Subject, relation: Relation, category: FactCategory): EvaluationFact {
    this.reserve(subject, relation);
    const value = this.#drawNewValue(relation);
    const old = category === 'update' ? { oldValue: this.#drawNewValue(relation) } : {};
    const fact = { subject, relation, value, ...old, side: this.drawSide(relation), category };
    this.facts.push(fact);
    return fact;
  }

  addPreference(category: FactCategory): EvaluationFact {
    for (;;) {
      const relation = drawPreference(this.#random, this.grammar);
      if (this.isFree(USER, relation)) return this.add(USER, relation, category);
    }
  }

  /** Draws a fact that the user says in the conversation and no memory stores; `messages` state it. */
  tell() {
    const relation = this.drawFree(USER);
    this.reserve(USER, relation);
    const side = this.drawSide(relation);
    const fact = { subject: USER, relation, value: this.#drawNewValue(relation), side };
    const said = statement(this.#random, fact, side, { firstPerson: true });
    return { ...fact, messages: exchange(said, this.#random.pick(this.grammar.acknowledgements)) };
  }

  drawSubject(othersShare: number): Subject {
    return this.#random.chance(othersShare) && this.others.length > 0 ? this.#random.pick(this.others) : USER;
  }

  #drawNewValue(relation: Relation): string {
    return this.#drawUnused(() => drawRelationValue(this.#random, relation, true));
  }

  #drawUnused(draw: () => string): string {
    for (;;) {
      const value = draw();
      if (this.#values.has(value.toLowerCase())) continue;
      this.#values.add(value.toLowerCase());
      return value;
    }
  }
}
