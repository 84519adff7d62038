import { expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { TokenPieceRepository } from './token-piece-repository.ts';

it('keeps what tokens stand for, of each model apart, as it was stored first', () => {
  using database = openDatabase({ path: ':memory:' });
  const pieces = new TokenPieceRepository(database);
  pieces.add(
    'model-1',
    new Map([
      [1, ' one'],
      [2, '\ufffd'],
      [0, ''],
    ]),
  );
  pieces.add(
    'model-1',
    new Map([
      [1, 'other'],
      [3, '\n'],
    ]),
  );
  pieces.add('model-2', new Map([[1, '一']]));
  expect(pieces.find('model-1', [0, 1, 2, 3, 3, 99])).toEqual(
    new Map([
      [0, ''],
      [1, ' one'],
      [2, '\ufffd'],
      [3, '\n'],
    ]),
  );
  expect(pieces.find('model-2', [1, 2])).toEqual(new Map([[1, '一']]));
  expect(pieces.find('model-3', [1])).toEqual(new Map());
});

it('takes more tokens at once than a statement has values', () => {
  using database = openDatabase({ path: ':memory:' });
  const pieces = new TokenPieceRepository(database);
  const many = new Map(Array.from({ length: 12_000 }, (_, id) => [id, `piece ${id}`] as const));
  pieces.add('model', many);
  expect(pieces.find('model', many.keys())).toEqual(many);
});
