import { describe, expect, it } from 'vitest';
import { grammars, type Grammar, type Phrasings } from './english-and-chinese-wordings.ts';

function phrasingsIn(part: unknown): Phrasings[] {
  if (typeof part !== 'object' || part === null) return [];
  if ('known' in part && 'heldOut' in part) return [part as Phrasings];
  return Object.values(part).flatMap(phrasingsIn);
}

/** Words alone: what differs in case, in punctuation or by "which" for "what" alone is the same phrasing. */
function plain(phrasing: string, { language }: Grammar): string {
  if (language === 'zh') return phrasing.replace(/[\s。，？！：、；“”]/gu, '');
  const words = phrasing.toLowerCase().match(/[\w{}']+/g) ?? [];
  return ` ${words.map((word) => (word === 'which' ? 'what' : word)).join(' ')} `;
}

describe.each(Object.values(grammars))('the grammar of $language', (grammar) => {
  const all = phrasingsIn(grammar);

  it('trains on no phrasing that holds one of those that are held out', () => {
    const trained = all.flatMap((one) => one.trained).map((phrasing) => plain(phrasing, grammar));
    const heldOut = all.flatMap((one) => one.heldOut);
    expect(heldOut.length).toBeGreaterThan(50);
    expect(heldOut.filter((phrasing) => trained.some((text) => text.includes(plain(phrasing, grammar))))).toEqual([]);
  });

  it('has no duplicates in a list', () => {
    const lists = all.flatMap(({ trained, heldOut }) => [trained, heldOut]);
    expect(lists.filter((list) => new Set(list).size < list.length)).toEqual([]);
  });
});

it('has its counterpart in the other language at the same place', () => {
  const { en, zh } = grammars;
  for (const key of ['relations', 'openRelations', 'nouns', 'roles'] as const)
    expect(zh[key]).toHaveLength(en[key].length);
  expect(zh.relations.map(({ value }) => value)).toEqual(en.relations.map(({ value }) => value));
});
