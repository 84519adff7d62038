import { templates } from '../../config/templates.ts';
import {
  historySegments,
  joinSegments,
  memoryFooterSegment,
  memoryHeaderSegment,
  memorySegment,
  querySegments,
  systemSegment,
  type HistoryMessage,
  type LabelStyle,
} from '../../systems/prompt/segments.ts';
import type { SeededRandom } from '../random.ts';
import {
  drawRelation,
  factKey,
  question,
  statement,
  USER,
  valueOf,
  type PhrasingSide,
  type Relation,
  type Subject,
} from './relations.ts';
import { drawValue } from './values.ts';

/** How memories see each other in training: as ordinary text, or each alone behind the header. */
export type TrainingLayout = 'text' | 'blocks' | 'parallel' | 'none';

/** Why a question has the answer that it has. */
export type QuestionKind = 'plain' | 'update' | 'several' | 'other' | 'history' | 'absent';

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

/** How hard the dialogues are. */
export interface Curriculum {
  readonly maxMemories: number;
  /** Share of documents that hold up to twice as many memories. */
  readonly longShare: number;
  /** Shares: facts about others, facts that a later memory replaces, open relations, and kinds of questions. */
  readonly others: number;
  readonly updates: number;
  readonly open: number;
  readonly absent: number;
  readonly history: number;
  readonly chatter: number;
  /** Weights of the layouts. */
  readonly layouts: Readonly<Record<TrainingLayout, number>>;
}

const FULL: Curriculum = {
  maxMemories: 12,
  longShare: 0.05,
  others: 0.3,
  updates: 0.12,
  open: 0.45,
  absent: 0.14,
  history: 0.06,
  chatter: 0.2,
  layouts: { text: 0.5, blocks: 0.25, parallel: 0.2, none: 0.05 },
};

/** Level 0 holds one or two memories; the last one is what the bench asks. */
export const CURRICULUM: readonly Curriculum[] = [
  {
    ...FULL,
    maxMemories: 2,
    longShare: 0,
    others: 0,
    updates: 0,
    absent: 0.03,
    history: 0,
    chatter: 0.05,
    layouts: { text: 0.55, blocks: 0.25, parallel: 0.2, none: 0 },
  },
  { ...FULL, maxMemories: 4, longShare: 0, others: 0.2, updates: 0.05, absent: 0.08, history: 0.03, chatter: 0.1 },
  { ...FULL, maxMemories: 6, longShare: 0 },
  { ...FULL, maxMemories: 8, longShare: 0 },
  FULL,
];

interface Fact {
  readonly subject: Subject;
  readonly relation: Relation;
  value: string;
  kind: QuestionKind;
}

/** What a document may draw from, and how much of it. */
export interface DocumentOptions {
  readonly heldOut: boolean;
  readonly phrasing: PhrasingSide;
  readonly layout?: TrainingLayout;
  readonly memories?: number;
}

function drawLayout(random: SeededRandom, weights: Curriculum['layouts']): TrainingLayout {
  let left = random.float();
  for (const [layout, weight] of Object.entries(weights) as [TrainingLayout, number][]) {
    left -= weight;
    if (left < 0) return layout;
  }
  return 'text';
}

/** The user, and now and then a relative and somebody by name. */
export function drawSubjects(random: SeededRandom, others: number, heldOut: boolean): Subject[] {
  const subjects: Subject[] = [USER];
  if (others === 0) return subjects;
  for (let count = 0; count < 2; count++) {
    subjects.push(
      random.chance(0.5)
        ? { kind: 'role', name: random.pick(templates.roles) }
        : { kind: 'named', name: drawValue(random, 'name', heldOut) },
    );
  }
  return subjects;
}

function drawFacts(
  random: SeededRandom,
  count: number,
  level: Curriculum,
  subjects: readonly Subject[],
  heldOut: boolean,
): Fact[] {
  const facts: Fact[] = [];
  const used = new Set<string>();
  while (facts.length < count) {
    const about = subjects.length === 1 || !random.chance(level.others) ? USER : random.pick(subjects.slice(1));
    const repeats = facts.length > 0 && random.chance(0.15);
    const relation =
      repeats && level.others > 0 ? random.pick(facts).relation : drawRelation(random, level.open, heldOut);
    const key = factKey(about, relation);
    if (used.has(key)) continue;
    used.add(key);
    const kind = repeats && level.others > 0 ? 'several' : about.kind === 'user' ? 'plain' : 'other';
    facts.push({ subject: about, relation, value: valueOf(random, relation, heldOut), kind });
  }
  return facts;
}

/** The sentences in the order of their making; an update comes after what it replaces. */
function remembered(
  random: SeededRandom,
  facts: readonly Fact[],
  level: Curriculum,
  options: DocumentOptions,
): string[] {
  const lines = facts.map((fact) => ({
    at: random.float(),
    text: statement(random, fact.subject, fact.relation, fact.value, options.phrasing),
  }));
  facts.forEach((fact, index) => {
    if (!random.chance(level.updates)) return;
    const before = lines[index]!.at;
    fact.value = valueOf(random, fact.relation, options.heldOut);
    fact.kind = 'update';
    lines.push({
      at: before + (1 - before) * random.float() + Number.EPSILON,
      text: statement(random, fact.subject, fact.relation, fact.value, options.phrasing, { update: true }),
    });
  });
  return lines.sort((a, b) => a.at - b.at).map((line) => line.text);
}

function answer(value: string): string {
  return ` ${value}.`;
}

function chatter(random: SeededRandom): HistoryMessage[] {
  const [user, assistant] = random.pick(templates.chatter);
  return [
    { role: 'user', content: user },
    { role: 'assistant', content: assistant },
  ];
}

/** One document of a curriculum level: a user's memories and several independent questions about them. */
export function drawTrainingDocument(
  random: SeededRandom,
  level: Curriculum,
  options: DocumentOptions,
): TrainingDocument {
  const layout = options.layout ?? drawLayout(random, level.layouts);
  const { heldOut, phrasing } = options;
  const long = random.chance(level.longShare);
  const wanted =
    options.memories ??
    (long ? random.int(level.maxMemories + 1, 2 * level.maxMemories) : random.int(1, level.maxMemories));
  const subjects = drawSubjects(random, level.others, heldOut);
  const facts = drawFacts(random, wanted, level, subjects, heldOut);
  const known = new Set(facts.map((fact) => factKey(fact.subject, fact.relation)));
  const memories = remembered(random, facts, level, options);
  const labels: LabelStyle = random.chance(0.15) ? 'bullet' : 'index';

  const unknownFact = (): { subject: Subject; relation: Relation } => {
    for (;;) {
      const subject = random.pick(subjects);
      const near = subjects.length > 1 && random.chance(0.4);
      const relation = near ? random.pick(facts).relation : drawRelation(random, level.open, heldOut);
      if (!known.has(factKey(subject, relation))) return { subject, relation };
    }
  };

  const order = random.shuffled(facts);
  const drawQuestion = (
    index: number,
  ): { history: HistoryMessage[]; query: string; answer: string; kind: QuestionKind } => {
    const roll = random.float();
    if (layout === 'none' || roll < level.absent) {
      const about = layout === 'none' && random.chance(0.5) ? random.pick(facts) : unknownFact();
      const query = question(random, about.subject, about.relation, phrasing);
      return { history: [], query, answer: ` ${templates.unknownAnswer}`, kind: 'absent' };
    }
    if (roll < level.absent + level.history) {
      const { relation } = unknownFact();
      if (!known.has(factKey(USER, relation))) {
        const value = valueOf(random, relation, heldOut);
        const told = statement(random, USER, relation, value, phrasing, { firstPerson: true });
        const history: HistoryMessage[] = [
          { role: 'user', content: told },
          { role: 'assistant', content: random.pick(templates.acknowledgements) },
        ];
        return { history, query: question(random, USER, relation, phrasing), answer: answer(value), kind: 'history' };
      }
    }
    const fact = order[index % order.length]!;
    const history: HistoryMessage[] = [];
    if (random.chance(0.08)) {
      const earlier = random.pick(facts);
      history.push(
        { role: 'user', content: question(random, earlier.subject, earlier.relation, phrasing) },
        { role: 'assistant', content: answer(earlier.value).trim() },
      );
    }
    return {
      history,
      query: question(random, fact.subject, fact.relation, phrasing),
      answer: answer(fact.value),
      kind: fact.kind,
    };
  };

  const questions = Array.from({ length: Math.min(10, Math.max(2, Math.round(facts.length * 0.9))) }, (_, index) => {
    const drawn = drawQuestion(index);
    const small = random.chance(level.chatter) ? chatter(random) : [];
    const history = random.chance(0.5) ? [...small, ...drawn.history] : [...drawn.history, ...small];
    const suffix = [
      ...(layout === 'none' ? [] : [memoryFooterSegment]),
      ...historySegments(history),
      ...querySegments(drawn.query),
    ];
    return { suffix: suffix.map((segment) => segment.text), answer: drawn.answer, kind: drawn.kind };
  });

  const system = systemSegment(
    random.chance(0.6) ? templates.systemPrompts[0]! : random.pick(templates.systemPrompts),
  ).text;
  return layout === 'none'
    ? { layout, header: [system], memories: [], questions }
    : {
        layout,
        header: [system, joinSegments([memoryHeaderSegment])],
        memories: memories.map((text, index) => memorySegment('', text, index + 1, labels).text),
        questions,
      };
}

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
