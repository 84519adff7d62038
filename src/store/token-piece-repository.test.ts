import { expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { TokenPieceRepository } from './token-piece-repository.ts';

const piecesOf = (...texts: string[]) => new Map(texts.map((text, id) => [id, text] as const));

it('stores the texts of tokens by model, and keeps the first of two', () => {
  using database = openDatabase({ path: ':memory:' });
  const pieces = new TokenPieceRepository(database);
  pieces.add('model-1', piecesOf('', ' one', '\ufffd'));
  pieces.add('model-1', piecesOf('', 'other', 'other', '\n'));
  pieces.add('model-2', new Map([[1, '一']]));
  expect(pieces.find('model-1', [0, 1, 2, 3, 3, 99])).toEqual(piecesOf('', ' one', '\ufffd', '\n'));
  expect(pieces.all('model-1')).toEqual(piecesOf('', ' one', '\ufffd', '\n'));
  expect(pieces.find('model-2', [1, 2])).toEqual(new Map([[1, '一']]));
  expect(pieces.find('model-3', [1])).toEqual(new Map());
});

it('adds more tokens at once than a statement can have values', () => {
  using database = openDatabase({ path: ':memory:' });
  const pieces = new TokenPieceRepository(database);
  const many = piecesOf(...Array.from({ length: 12_000 }, (_, id) => `piece ${id}`));
  pieces.add('model', many);
  expect(pieces.find('model', many.keys())).toEqual(many);
});
