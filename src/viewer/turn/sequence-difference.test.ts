import { describe, expect, it } from 'vitest';
import { changed } from '../../../test/fixtures/draft.ts';
import { answeredTurn } from '../../../test/fixtures/turn-record.ts';
import { type AnsweredTurn, inspectedTurn } from '../stored-turn.ts';
import { placedSegments } from './placed-segments.ts';
import { sequenceDifference } from './sequence-difference.ts';

function answered(arm: string, injected = false): AnsweredTurn {
  return inspectedTurn(answeredTurn(arm, { injected }));
}

/** The line of m-2 as ten tokens, one of which is another in the other arm. */
function withLine(words: readonly string[]): AnsweredTurn {
  return changed(answered('rag'), ({ prompt }) => {
    const line = prompt.segments[4]!;
    line.text = words.join('');
    line.tokenIds = words.map((word) => 1000 + [...word].reduce((sum, letter) => sum + letter.charCodeAt(0), 0));
  });
}

const words = ['[2]', ' My', ' sister', ' moved', ' to', ' Turin', '.\n'];
const others = ['[2]', ' My', ' brother', ' moved', ' to', ' Turin', '.\n'];
const idsOf = (list: readonly string[]) => withLine(list).prompt.segments[4]!.tokenIds;
const pieces = new Map([...words, ...others].map((word) => [idsOf([word])[0]!, word]));

describe('the difference of two sequences', () => {
  it('is none where ids and positions agree, and says what was injected as KV', () => {
    const { segments, ...counts } = sequenceDifference(answered('dki', true), answered('rag'), pieces);
    expect(counts).toEqual({ sameTokens: 43, onlyHere: 0, onlyThere: 0, movedTokens: 0 });
    expect(segments[3]).toEqual({
      kind: 'same',
      label: 'memory m-1',
      tokens: 8,
      moved: undefined,
      origins: { here: 'injected', there: 'evaluated' },
    });
  });

  it('names the tokens that only one of them has', () => {
    const { segments, ...counts } = sequenceDifference(withLine(words), withLine(others), pieces);
    expect(counts).toEqual({ sameTokens: 40, onlyHere: 1, onlyThere: 1, movedTokens: 0 });
    expect(segments[4]).toMatchObject({
      kind: 'changed',
      before: [{ text: '[2]' }, { text: ' My' }],
      here: [{ text: ' sister' }],
      there: [{ text: ' brother' }],
      after: [{ text: ' moved' }, { text: ' to' }, { text: ' Turin' }, { text: '.\n' }],
    });
  });

  it('names the segments that only one of them has', () => {
    const less = changed(answered('rag'), ({ prompt }) => prompt.segments.splice(3, 1));
    const { segments, ...counts } = sequenceDifference(answered('rag'), less, pieces);
    expect(counts).toMatchObject({ sameTokens: 35, onlyHere: 8, onlyThere: 0 });
    expect(segments.filter(({ kind }) => kind !== 'same')).toMatchObject([{ kind: 'only-here', label: 'memory m-1' }]);
    const reversed = sequenceDifference(less, answered('rag'), pieces).segments;
    expect(reversed.map(({ kind }) => kind).filter((kind) => kind !== 'same')).toEqual(['only-there']);
  });

  it('tells tokens at other positions from other tokens', () => {
    const parallel = answered('dki-parallel', true);
    const block = { key: 'ab', origin: 'memory', computeMs: 0 } as const;
    const shared: AnsweredTurn = {
      ...parallel,
      tokens: { ...parallel.tokens, positions: 35 },
      prefill: {
        ...{ strategy: 'parallel', alpha: 1, sizeBytes: 10, recomputed: [], recomputedTokens: 0, joinMs: 0 },
        header: { ...block, tokens: 14 },
        blocks: [
          { ...block, memoryId: 'm-1', tokens: 8, position: 14 },
          { ...block, memoryId: 'm-2', tokens: 9, position: 14 },
        ],
      },
    };
    const { segments, ...counts } = sequenceDifference(shared, answered('rag'), pieces);
    expect(counts).toEqual({ sameTokens: 43, onlyHere: 0, onlyThere: 0, movedTokens: 21 });
    expect(segments[4]).toMatchObject({ kind: 'same', moved: { here: 14, there: 22 } });
    expect(segments[7]).toMatchObject({ label: 'footer', moved: { here: 32, there: 40 } });
  });

  it('counts the cells of shared tokens in front of blocks, which are no segments', () => {
    const plain = answered('dki-blocks', true);
    const block = { key: 'ab', origin: 'memory', computeMs: 0 } as const;
    const kept: AnsweredTurn = {
      ...plain,
      tokens: { ...plain.tokens, positions: 49 },
      prefill: {
        ...{ strategy: 'blocks', alpha: 1, sizeBytes: 10, recomputed: [], recomputedTokens: 0, joinMs: 0 },
        making: { sink: { tokens: 3, kept: true } },
        header: { ...block, tokens: 14 },
        blocks: [
          { ...block, memoryId: 'm-1', tokens: 8, position: 17 },
          { ...block, memoryId: 'm-2', tokens: 9, position: 28 },
        ],
      },
    };
    expect(placedSegments(kept).map(({ cell, position }) => [cell, position])).toEqual([
      ...[0, 1, 10].map((at) => [at, at]),
      ...[17, 28, 37, 38, 46].map((at) => [at, at]),
    ]);
  });
});
