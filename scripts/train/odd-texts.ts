import { grammars } from '../../src/base/grammar.ts';
import type { SeededRandom } from '../../src/base/seeded-random.ts';
import { drawRelation, statement, USER, drawRelationValue } from '../../src/data/generators/relations.ts';

const PIECES = [
  ...['naïve', 'café', '你好', '，世界', '  ', '\n', '\t', ' ', "I'm", "you're", '12345', 'x_y-z', '#1', '$2.50!'],
  ...[
    '😀',
    '👩‍👩‍👧',
    '<s>',
    '</s>',
    '<|im_end|>',
    '<|pad|>',
    'User:',
    'AI:',
    '龘',
    '１２',
    'Ａ',
    '한국어',
    'مرحبا',
    'é',
    '…',
    '—',
  ],
];

/** Strings inside and outside of the training distribution: emoji, markers, odd spaces, mixed languages. */
export function oddTexts(random: SeededRandom, count: number): string[] {
  return Array.from({ length: count }, () => {
    const parts = Array.from({ length: random.int(1, 5) }, () => {
      if (random.chance(0.6)) return random.pick(PIECES);
      const relation = drawRelation(random, grammars[random.pick(['en', 'zh'] as const)], 0.5, random.chance(0.5));
      return statement(random, { subject: USER, relation, value: drawRelationValue(random, relation, false) }, 'known');
    });
    return parts.join(random.pick(['', ' ']));
  });
}
