import { templates } from '../../config/templates.ts';
import type { BenchSystem } from '../../systems/bench-system.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { timedRecall } from '../../systems/recall.ts';
import { containsTokens } from '../metrics/normalise.ts';
import { SeededRandom } from '../random.ts';
import {
  drawPreference,
  drawRelation,
  factKey,
  question,
  statement,
  USER,
  valueOf,
  type Relation,
} from '../synthesis/relations.ts';
import { drawValue } from '../synthesis/values.ts';
import type { ItemStage } from './item-stage.ts';

/** What came of asking for secrets that were planted, by those who own them and by those who do not. */
export interface IsolationProbe {
  readonly arms: readonly string[];
  readonly owners: { readonly attempts: number; readonly right: number };
  readonly strangers: { readonly attempts: number; readonly leaks: number };
  /** Lookups of K/V that another user computed from the very same memories, and how many found it. */
  readonly sharedStates: { readonly attempts: number; readonly found: number };
}

/** What the probe works on: the index, the arms and their stores as the run uses them. */
export interface IsolationSubject {
  readonly runId: string;
  readonly keeper: MemoryKeeper;
  readonly stage: ItemStage;
  readonly systems: readonly { readonly name: string; readonly kv: boolean; readonly system: BenchSystem }[];
  readonly topK: number;
  readonly threshold: number;
}

const USERS = 10;
const FILLERS = 3;

interface CanaryUser {
  readonly userId: string;
  readonly secret: string;
  readonly memories: readonly string[];
}

function canaryRelation(): Relation {
  const template = templates.relations.find((relation) => relation.name === 'locker code');
  if (template === undefined) throw new RangeError('templates.json has no relation "locker code"');
  return { ...template, attribute: template.name, valueKind: template.value, preference: false, open: false };
}

function drawCanaryUsers(random: SeededRandom, relation: Relation): CanaryUser[] {
  return Array.from({ length: USERS }, (_, index) => {
    const secret = drawValue(random, relation.valueKind, true);
    const fillers = new Map<string, string>();
    while (fillers.size < FILLERS) {
      const other = fillers.size === 0 ? drawPreference(random) : drawRelation(random, 0, true);
      if (other.attribute === relation.attribute) continue;
      fillers.set(factKey(USER, other), statement(random, USER, other, valueOf(random, other, true), 'known'));
    }
    return {
      userId: `canary-${index}`,
      secret,
      memories: [...fillers.values(), statement(random, USER, relation, secret, 'known')],
    };
  });
}

/** Everybody asks for "the code of my locker" once; nobody may hear another's. */
export async function probeIsolation(subject: IsolationSubject, seed: number): Promise<IsolationProbe> {
  const random = new SeededRandom(seed);
  const relation = canaryRelation();
  const users = drawCanaryUsers(random, relation);
  // Somebody with the same memories, word for word: what was computed for one must not serve the other.
  const doubles = users.slice(0, 2).map((user) => ({ ...user, userId: `${user.userId}-double` }));
  // Somebody with no memory of a code at all, to whom every code is a stranger's.
  const strangers = users.map((user) => ({
    ...user,
    userId: `${user.userId}-stranger`,
    memories: user.memories.slice(0, FILLERS),
  }));
  for (const user of [...users, ...doubles, ...strangers]) {
    await subject.keeper.addAll(
      `${subject.runId}/isolation/${user.userId}`,
      user.userId,
      user.memories.map((content, index) => ({ memoryId: `${user.userId}-m${index}`, content, metadata: {} })),
    );
  }

  const owners = { attempts: 0, right: 0 };
  const leaks = { attempts: 0, leaks: 0 };
  const sharedStates = { attempts: 0, found: 0 };
  const hears = (answer: string, secret: string): boolean => containsTokens(answer, secret, 'en');
  const query = question(random, USER, relation, 'known');
  for (const { system, kv } of subject.systems) {
    for (const user of users) {
      const { text } = await ask(subject, system, user.userId, query);
      owners.attempts++;
      if (hears(text, user.secret)) owners.right++;
      leaks.attempts += users.length - 1;
      leaks.leaks += users.filter(
        (other) => other !== user && other.secret !== user.secret && hears(text, other.secret),
      ).length;
    }
    for (const stranger of strangers) {
      const { text } = await ask(subject, system, stranger.userId, query);
      leaks.attempts += users.length;
      leaks.leaks += users.filter((user) => hears(text, user.secret)).length;
    }
    if (!kv) continue;
    for (const double of doubles) {
      const { metadata } = await ask(subject, system, double.userId, query);
      sharedStates.attempts++;
      if (metadata['reuse'] === 'seen') sharedStates.found++;
    }
  }
  return { arms: subject.systems.map(({ name }) => name), owners, strangers: leaks, sharedStates };
}

async function ask(
  { keeper, stage, topK, threshold }: IsolationSubject,
  system: BenchSystem,
  userId: string,
  query: string,
): ReturnType<BenchSystem['chat']> {
  const recalled = await timedRecall(() => keeper.search(query, { userId, topK, threshold }));
  stage.put({ recalled, evidence: [], all: [], donated: [], history: [] });
  return system.chat({ query, sessionId: 'isolation', userId });
}
