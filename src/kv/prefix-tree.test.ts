import { expect, it } from 'vitest';
import { SeededRandom } from '../base/seeded-random.ts';
import { PrefixTree, type PromptPath } from './prefix-tree.ts';

/** KV of a span: a copy of its tokens, so that a wrong cut is seen. */
type Copy = readonly number[];
let erased: Copy[] = [];

function treeOf(maxBytes = 1e6): PrefixTree<Copy> {
  erased = [];
  return new PrefixTree<Copy>(maxBytes, {
    split: (kv, at) => [kv.slice(0, at), kv.slice(at)],
    sizeBytes: (kv) => kv.length,
    erase: (kv) => void erased.push(kv),
  });
}

const path = (text: string, scope = 'ann', sharedTokens = 0): PromptPath => ({
  tokenIds: [...text].map((character) => character.codePointAt(0)!),
  sharedTokens,
  scope,
});

function insert(tree: PrefixTree<Copy>, to: PromptPath, owners: Readonly<Record<string, number>> = {}): void {
  const texts = Object.entries(owners).map(([owner, start]) => ({ owner, start }));
  tree.insert(to, texts, (start, end) => to.tokenIds.slice(start, end));
}

/** The found text; checks that the KV is that of its tokens. */
function found(tree: PrefixTree<Copy>, asked: PromptPath): string {
  const ids = tree.match(asked).flatMap(({ kv, tokens }) => kv.slice(0, tokens));
  expect(ids).toEqual(asked.tokenIds.slice(0, ids.length));
  expect(tree.knownTokens(asked)).toBe(ids.length);
  return String.fromCodePoint(...ids);
}

it('finds the longest known prefix, and stores shared prefixes once', () => {
  const tree = treeOf();
  expect(found(tree, path('abc'))).toBe('');
  insert(tree, path('abcdef'));
  expect(found(tree, path('abcxyz'))).toBe('abc');
  expect(found(tree, path('xabc'))).toBe('');
  insert(tree, path('abcxyz'));
  insert(tree, path('abcxy'));
  expect(tree.stats()).toMatchObject({ entries: 3, sizeBytes: 9 });
  expect(found(tree, path('abcxyzw'))).toBe('abcxyz');
  expect(found(tree, path('abcdefg'))).toBe('abcdef');
  expect(found(tree, path('abcd'))).toBe('abcd');
});

it('lets other scopes find only the shared prefix', () => {
  const tree = treeOf();
  insert(tree, path('systemMEMORY', 'ann', 6));
  expect(found(tree, path('systemMEMORY', 'ann', 6))).toBe('systemMEMORY');
  expect(found(tree, path('systemMEMORY', 'bob', 6))).toBe('system');
  expect(found(tree, path('systemMEMORY', 'ann', 3))).toBe('sys');
  expect(found(tree, path('systemMEMORY', 'ann', 12))).toBe('system');
  insert(tree, path('systemMEMORY', 'bob', 6));
  expect(tree.stats().sizeBytes).toBe(6 + 6 + 6);
  expect(found(tree, path('systemMEMORY', '', 6))).toBe('system');
});

it('adds one span for a prompt that is shared as a whole', () => {
  const tree = treeOf();
  insert(tree, path('system', 'ann', 6));
  expect(tree.stats()).toMatchObject({ entries: 1, sizeBytes: 6 });
  expect(found(tree, path('system', 'bob', 6))).toBe('system');
});

it('forgets the KV of a text and of everything after it, and no other KV', () => {
  const tree = treeOf();
  insert(tree, path('sys.one.two'), { one: 4, two: 8 });
  insert(tree, path('sys.one.six'), { one: 4, six: 8 });
  expect(tree.forget((owner) => owner === 'two')).toBe(1);
  expect(found(tree, path('sys.one.two'))).toBe('sys.one.');
  expect(found(tree, path('sys.one.six'))).toBe('sys.one.six');
  expect(tree.forget((owner) => owner === 'one')).toBe(2);
  expect(found(tree, path('sys.one.six'))).toBe('');
  expect(tree.stats()).toMatchObject({ entries: 0, sizeBytes: 0 });
  expect(erased.flat()).toHaveLength('sys.one.twosix'.length);
});

it('evicts leaves until it is within its bound', () => {
  const tree = treeOf(10);
  insert(tree, path('abcdefgh'));
  insert(tree, path('abcdxyzu'));
  expect(tree.stats()).toMatchObject({ evicted: 1, sizeBytes: 8 });
  expect(found(tree, path('abcdefgh'))).toBe('abcd');
  expect(found(tree, path('abcdxyzu'))).toBe('abcdxyzu');
  insert(tree, path('01234567890123456789'));
  expect(tree.stats().sizeBytes).toBe(0);
  tree.clear();
  expect(found(tree, path('abcd'))).toBe('');
});

it('agrees with a linear search of all added prompts', () => {
  const random = new SeededRandom(3);
  const tree = treeOf();
  const letter = (letters: string): string => random.pick([...letters]);
  let known: PromptPath[] = [];
  for (let step = 0; step < 400; step++) {
    const text = Array.from({ length: random.int(1, 9) }, () => letter('ab')).join('');
    const asked = path(text, letter('xy'), Math.min(text.length, random.int(0, 2)));
    const common = (other: PromptPath): number => {
      let length = 0;
      const isSame = (at: number): boolean =>
        at < asked.tokenIds.length &&
        other.tokenIds[at] === asked.tokenIds[at] &&
        at < other.sharedTokens === at < asked.sharedTokens &&
        (at < asked.sharedTokens || other.scope === asked.scope);
      while (isSame(length)) length++;
      return length;
    };
    expect(found(tree, asked)).toHaveLength(Math.max(0, ...known.map(common)));
    insert(tree, asked);
    known.push(asked);
    if (!random.chance(0.05)) continue;
    tree.clear();
    known = [];
  }
});
