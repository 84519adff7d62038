import { expect, it } from 'vitest';
import { SeededRandom } from '../base/seeded-random.ts';
import { type Evictable, type EvictionPolicy, evictionPolicies, EvictionQueue } from './eviction-queue.ts';

const entry = (tokens: number): Evictable => ({ tokens, usedAt: 0 });

function queueOf(policy: EvictionPolicy, entries: readonly Evictable[]): EvictionQueue<Evictable> {
  const queue = new EvictionQueue<Evictable>(policy);
  for (const each of entries) {
    queue.use(each);
    queue.add(each);
  }
  return queue;
}

it('evicts the longest unused entry with lru, and weighs it by its tokens otherwise', () => {
  const [long, short, recent] = [entry(100), entry(10), entry(10)];
  const entries = [long, short, recent];
  expect(queueOf('lru', entries).next()).toBe(long);
  const queue = queueOf('cost-recency', entries);
  expect(queue.next()).toBe(short);
  queue.use(short);
  expect(queue.next()).toBe(recent);
  expect(queue.next(recent)).toBe(short);
  queue.delete(recent);
  queue.delete(short);
  expect(queue.next()).toBe(long);
  expect(queue.next(long)).toBeUndefined();
  queue.delete(long);
  expect(queue.next()).toBeUndefined();
});

it.each(evictionPolicies)('with %s chooses what a search of all entries would, after any history', (policy) => {
  const random = new SeededRandom(7);
  const queue = new EvictionQueue<Evictable>(policy);
  const members: Evictable[] = [];
  let clock = 0;
  const use = (each: Evictable): void => {
    queue.use(each);
    clock++;
  };
  const pick = (): Evictable => random.pick(members);
  const worth = ({ tokens, usedAt }: Evictable): number => (policy === 'lru' ? usedAt : tokens / (clock - usedAt + 1));
  for (let step = 0; step < 2_000; step++) {
    if (members.length < 3 || random.chance(0.4)) {
      const added = entry(random.int(1, 8));
      use(added);
      queue.add(added);
      members.push(added);
    } else if (random.chance(0.7)) use(pick());
    else {
      const gone = random.chance(0.3) ? pick() : queue.next()!;
      queue.delete(gone);
      members.splice(members.indexOf(gone), 1);
    }
    const spared = members.length > 1 && random.chance(0.3) ? pick() : undefined;
    const least = Math.min(...members.filter((each) => each !== spared).map(worth));
    const chosen = queue.next(spared)!;
    expect(chosen).not.toBe(spared);
    expect(worth(chosen)).toBe(least);
    expect(members).toContain(chosen);
  }
});
