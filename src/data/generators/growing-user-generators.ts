import { type Grammar, grammars } from '../../base/english-and-chinese-wordings.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { promptTemplates } from '../../config/prompt-templates.ts';
import type { HistoryMessage } from '../record-schemas.ts';
import type { ContextWindow, DatasetGenerator } from './dataset-generator.ts';
import { namesNoPerson, relationTopic, type Subject, USER } from './facts-and-relations.ts';
import { fillTemplate } from './fill-template.ts';
import { datasetText, ordinal } from './format-generated-records.ts';
import { GrowingUser } from './growing-user.ts';

const VERSION = 2;
const PRESET_USERS = 8;

const languageMarks = { en: '', zh: 'z' } as const;

/** What the growth of a user can use. */
interface GrowthScope {
  readonly random: SeededRandom;
  readonly grammar: Grammar;
  readonly index: number;
  readonly window: ContextWindow;
}

/** Gives a user memories and questions. */
type Grow = (user: GrowingUser, scope: GrowthScope) => Promise<void> | void;

/** Makes the generators of a suite, one per language. @param letter begins the ids of users */
function generators(suite: string, letter: string, grow: Grow, presetUsers = PRESET_USERS): DatasetGenerator[] {
  return Object.values(grammars).map((grammar) => {
    const { language } = grammar;
    const name = `${suite}-${language}`;
    const make: DatasetGenerator['make'] = async (seed, count, window) => {
      const random = new SeededRandom(seed);
      const users: GrowingUser[] = [];
      for (let index = 0; index < count; index++) {
        const user = new GrowingUser(random, grammar, `${letter}${languageMarks[language]}${ordinal(index)}`);
        await grow(user, { random, grammar, index, window });
        users.push(user);
      }
      const records = users.flatMap(({ memories, items }) => [...memories, ...items]);
      return datasetText({ name, language, version: VERSION, seed }, records);
    };
    return { name, suites: [suite], language, presetUsers, make };
  });
}

/** At each number of memories, questions ask for an old, a middle and a new one. */
const QUESTIONS = 3;

/** Total lengths of the paper's memories in its window, in tokens; another window gets the same shares. */
const PAPER_TOKENS = [500, 1000, 1500, 2000, 2500, 3000, 3500];
const PAPER_WINDOW = 4096;

/** Grows memories from an eighth of the context window to seven eighths. */
const growByWindow: Grow = async (user, { random, window: { contextTokens, countTokens } }) => {
  let tokens = 0;
  const remember = async (): Promise<void> => {
    const { content } = user.memories[user.remember()]!;
    const line = fillTemplate(promptTemplates.segments.memory.index, { i: String(user.memories.length), content });
    const [count] = await countTokens([line]);
    tokens += count!;
  };
  for (const paperTokens of PAPER_TOKENS) {
    const share = paperTokens / PAPER_WINDOW;
    while (tokens < share * contextTokens) await remember();
    for (let third = 0; third < QUESTIONS; third++) {
      const [from, to] = [third, third + 1].map((part) => Math.floor((part * user.memories.length) / QUESTIONS));
      user.ask({ memory: random.int(from!, Math.max(from!, to! - 1)), condition: share });
    }
  }
};

export const contextData = generators('context', 'c', growByWindow);

const COUNTS = [1, 2, 5, 10, 20, 40];
/** Estimated tokens of a memory, and the share of the window for memories, so that they fit a small window too. */
const TOKENS_OF_ONE = 16;
const MEMORY_SHARE = 0.36;

/** Grows the number of memories. */
const growByNumber: Grow = (user, { random, index, window: { contextTokens } }) => {
  const fitting = COUNTS.filter((count) => count * TOKENS_OF_ONE <= MEMORY_SHARE * contextTokens);
  for (const count of fitting) {
    while (user.memories.length < count) user.remember();
    // Rotates over users, so that every number of memories has questions about old, middle and new ones.
    for (let place = 0; place < Math.min(QUESTIONS, count); place++) {
      const third = (place + index) % QUESTIONS;
      const memory = Math.min(count - 1, Math.floor(((third + random.float()) * count) / QUESTIONS));
      user.ask({ memory, condition: count });
    }
  }
};

export const scalingData = generators('scaling', 's', growByNumber);

/** Memories of a user of the conversations. */
const MEMORIES = 12;
const DEPTH = 12;
/** Turns between a statement in the conversation and the question for it. */
const DELAY = 2;
const TOLD_EVERY = 3;

/** One conversation per user; every third question asks for something said shortly before. */
const growConversation: Grow = (user, { random }) => {
  while (user.memories.length < MEMORIES) user.remember();
  const conversation = `${user.userId}-talk`;
  const order = random.shuffled([...user.memories.keys()]);
  const due = new Map<number, ReturnType<GrowingUser['tell']>['ask']>();
  for (let condition = 1; condition <= DEPTH; condition++) {
    let history: readonly HistoryMessage[] = [];
    if (condition % TOLD_EVERY === 1 && condition + DELAY <= DEPTH) {
      const told = user.tell();
      history = told.messages;
      due.set(condition + DELAY, told.ask);
    }
    const ask = due.get(condition);
    if (ask === undefined) user.ask({ memory: order.pop()!, condition, conversation, history });
    else ask({ condition, conversation, history });
  }
};

export const coherenceData = generators('coherence', 'd', growConversation);

const TURNS = 5;

/** One context per user; each turn asks for another of its memories, in random order. */
const growContext: Grow = (user, { random }) => {
  while (user.memories.length < MEMORIES) user.remember();
  const order = random.shuffled([...user.memories.keys()]).slice(0, TURNS);
  order.forEach((memory, turn) => user.ask({ memory, condition: turn + 1 }));
};

export const multiTurnData = generators('multi-turn', 'm', growContext, 40);

/**
 * Adds two pairs of memories: the first names a person, the second says "she" or "he". A memory about the user comes
 * before, between or after them. Both pairs state the same relation, so that a pronoun is ambiguous without the memory
 * before it. Questions need one memory (condition 1) or both of a pair (condition 2).
 */
const growPairs: Grow = (user, { random, grammar }) => {
  const people = random.shuffled(user.people).slice(0, 2);
  const second = user.drawFree(people);
  const own = random.int(0, people.length);
  const pairs = people.map((subject, place) => {
    if (own === place) user.remember({ subject: USER, relation: user.drawFree([USER]) });
    const named: Subject = { kind: 'pronoun', ...random.pick(grammar.voices.pronouns) };
    const first = user.drawFree([subject], (one) => namesNoPerson(one) && relationTopic(one) !== relationTopic(second));
    return [user.remember({ subject, relation: first }), user.remember({ subject, relation: second, named })] as const;
  });
  if (own === people.length) user.remember({ subject: USER, relation: user.drawFree([USER]) });
  for (const [before, memory] of pairs) {
    user.ask({ memory: before, condition: 1 });
    user.ask({ memory, before, condition: 2 });
  }
};

export const coreferenceData = generators('coreference', 'r', growPairs, 60);
