import { expect, test } from 'vitest';
import type { DatasetDeclaration } from '../../../data/record-schemas.ts';
import { dataNotes } from './notes-before-turns.ts';
import { describeData } from './new-run-record.ts';

const profile = { language: 'en', unknownAnswer: '?' } as const;

function asked(...declarations: readonly DatasetDeclaration[]) {
  const parts = declarations.map((declared, index) => ({
    ...{ name: `d${index}`, sha256: String(index), ...profile, declared },
    users: [{ userId: `u${index}`, languageProfile: profile, memories: [], items: [] }],
  }));
  return { name: 'all', sha256: 'all', parts };
}

const describe = (data: ReturnType<typeof asked>) =>
  describeData(
    data,
    data.parts.flatMap(({ users }) => users),
  );

test('a single data set: its declaration and its note go to the run', () => {
  const declared = { primaryMetric: 'contains', split: 'test', licence: 'CC0', note: 'untested' } as const;
  expect(describe(asked(declared))).toMatchObject(declared);
  expect(describe(asked({}))).toEqual({
    ...{ name: 'all', sha256: 'all', items: 0, users: 1 },
    counts: { userKind: {}, category: {}, phrasing: {} },
  });
  expect(dataNotes(asked(declared))).toEqual(['d0: untested']);
});

test('several data sets: described one by one, with a primary metric only if all name the same', () => {
  const contains = { primaryMetric: 'contains' };
  const same = asked({ ...contains, note: 'n' }, { ...contains, split: 'test' });
  expect(describe(same)).toMatchObject({ primaryMetric: 'contains', parts: [{ note: 'n' }, { split: 'test' }] });
  expect(dataNotes(same)).toEqual(['d0: n']);
  const differing = asked(contains, {});
  expect(describe(differing)).not.toHaveProperty('primaryMetric');
  expect(dataNotes(differing)).toEqual([
    'the data sets do not share one primary metric (d0: contains): arms are compared by the default metric',
  ]);
  expect(dataNotes(asked({}, {}))).toEqual([]);
});
