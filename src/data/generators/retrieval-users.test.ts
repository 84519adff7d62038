import { expect, test } from 'vitest';
import { containsTokens } from '../normalise-text.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { retrievalKinds, drawRetrievalUsers } from './retrieval-users.ts';

const users = drawRetrievalUsers(new SeededRandom(3), { users: 6, memories: 120 });
const questions = users.flatMap((user) => user.questions.map((question) => ({ ...question, user })));

test('each user is asked four questions of every kind, and none twice', () => {
  for (const user of users) {
    for (const kind of retrievalKinds) {
      expect(user.questions.filter((question) => question.kind === kind)).toHaveLength(4);
    }
    expect(new Set(user.questions.map(({ query }) => query)).size).toBe(user.questions.length);
  }
});

test('evidence belongs to the user, is distinct, and was said before the question', () => {
  for (const { user, evidence, askedAt } of questions) {
    expect(evidence.length).toBeGreaterThan(0);
    expect(new Set(evidence).size).toBe(evidence.length);
    for (const id of evidence) {
      const memory = user.memories.find(({ memoryId }) => memoryId === id);
      expect(Date.parse(memory!.metadata.createdAt)).toBeLessThan(Date.parse(askedAt));
    }
  }
});

test('all preferences of a user are the evidence of a question for all of them', () => {
  for (const user of users) {
    const preferences = user.memories.filter(({ metadata }) => metadata.preference).map(({ memoryId }) => memoryId);
    const whole = user.questions.filter(({ kind, evidence }) => kind === 'preference' && evidence.length > 1);
    expect(whole).toHaveLength(2);
    for (const { evidence } of whole) expect([...evidence].sort()).toEqual(preferences);
  }
});

test('a question for what is recent needs all of the last seven days, and nothing else is as recent', () => {
  for (const { user, kind, evidence, askedAt } of questions) {
    if (kind !== 'recent' || evidence.length === 1) continue;
    const from = Date.parse(askedAt.slice(0, 10)) - 6 * 86_400_000;
    const recent = user.memories.filter(({ metadata }) => Date.parse(metadata.createdAt) >= from);
    expect([...evidence].sort()).toEqual(recent.map(({ memoryId }) => memoryId).sort());
  }
});

test('a question across two memories names neither the person nor the answer', () => {
  for (const { user, kind, query, evidence } of questions) {
    if (kind !== 'multi-hop') continue;
    expect(evidence).toHaveLength(2);
    const bridge = user.memories.find(({ memoryId }) => memoryId === evidence[0])!;
    const [, role, name] = /^My (.+) is called (.+)\.$/.exec(bridge.content)!;
    expect(query).toContain(`my ${role}`);
    expect(containsTokens(query, name!, 'en')).toBe(false);
    expect(user.memories.find(({ memoryId }) => memoryId === evidence[1])!.content).toContain(name!);
  }
});

test('Chinese questions are Chinese, the others are not', () => {
  for (const { kind, query } of questions) expect(/\p{Script=Han}/u.test(query)).toBe(kind === 'chinese');
});
