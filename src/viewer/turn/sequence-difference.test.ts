import { describe, expect, it } from 'vitest';
import { changed } from '../../../test/fixtures/draft.ts';
import { answeredTurn } from '../../../test/fixtures/turn-record.ts';
import type { PrefillRecord } from '../../store/records/prefill-record.ts';
import { type AnsweredDisplayTurn, turnForDisplay } from '../turn-scores-for-display.ts';
import { segmentsWithPositions } from './segment-positions.ts';
import { sequenceDifference } from './sequence-difference.ts';

type JoinedBlocksPrefill = Exclude<PrefillRecord, { readonly strategy: 'prefix' }>;

const answered = (arm: string, injected = false): AnsweredDisplayTurn =>
  turnForDisplay(answeredTurn(arm, { injected }));

/** A turn whose two memories are blocks of 8 and 9 tokens at the given positions. */
function withBlocks(
  positions: number,
  at: readonly [number, number],
  joined: Partial<JoinedBlocksPrefill>,
): AnsweredDisplayTurn {
  const turn = answered('dki-blocks', true);
  const block = { key: 'ab', origin: 'memory', computeMs: 0 } as const;
  const header = { ...block, tokens: 14 };
  const blocks = at.map((position, index) => ({ ...block, memoryId: `m-${index + 1}`, tokens: 8 + index, position }));
  const costs = { alpha: 1, sizeBytes: 10, recomputed: [], recomputedTokens: 0, joinMs: 0 };
  const prefill = { strategy: 'blocks', ...costs, header, blocks, ...joined } as JoinedBlocksPrefill;
  return { ...turn, tokens: { ...turn.tokens, positions }, prefill };
}

/** The line of m-2 as ten tokens, one of which is another in the other arm. */
function withLine(words: readonly string[]): AnsweredDisplayTurn {
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
    const origins = { here: 'injected', there: 'evaluated' };
    expect(segments[3]).toEqual({ kind: 'same', label: 'memory m-1', tokens: 8, moved: undefined, origins });
  });

  it('names the tokens that only one of them has', () => {
    const { segments, ...counts } = sequenceDifference(withLine(words), withLine(others), pieces);
    expect(counts).toEqual({ sameTokens: 40, onlyHere: 1, onlyThere: 1, movedTokens: 0 });
    const [before, after] = [words.slice(0, 2), words.slice(3)].map((list) => list.map((text) => ({ text })));
    const changes = { here: [{ text: ' sister' }], there: [{ text: ' brother' }] };
    expect(segments[4]).toMatchObject({ kind: 'changed', before, ...changes, after });
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
    const shared = withBlocks(35, [14, 14], { strategy: 'parallel' });
    const { segments, ...counts } = sequenceDifference(shared, answered('rag'), pieces);
    expect(counts).toEqual({ sameTokens: 43, onlyHere: 0, onlyThere: 0, movedTokens: 21 });
    expect(segments[4]).toMatchObject({ kind: 'same', moved: { here: 14, there: 22 } });
    expect(segments[7]).toMatchObject({ label: 'footer', moved: { here: 32, there: 40 } });
  });

  it('counts the cells of shared tokens in front of blocks, which are no segments', () => {
    const kept = withBlocks(49, [17, 28], { strategy: 'blocks', making: { sink: { tokens: 3, kept: true } } });
    expect(segmentsWithPositions(kept).map(({ cell, position }) => [cell, position])).toEqual([
      ...[0, 1, 10].map((at) => [at, at]),
      ...[17, 28, 37, 38, 46].map((at) => [at, at]),
    ]);
  });
});
