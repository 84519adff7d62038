import { differsFromText, parityBound, type ParitySelfTest } from './records/parity-self-test.ts';
import { type AnsweredTurn, evaluatesAsClaimed, type TurnRecord } from './records/turn-record.ts';

/** The checks of `src/eval/analysis/checks` that a single turn can fail, without a comparison with other arms. */
const turnChecks: Readonly<Record<string, (turn: AnsweredTurn, parity: ParitySelfTest | null) => boolean>> = {
  'token identity': ({ observed, account, prefill }) => {
    const keepsSink = prefill !== null && 'making' in prefill && prefill.making.sink?.kept === true;
    return observed.firstForeignToken !== null && !account.sharesPositions && !keepsSink;
  },
  'token accounting': (turn) => turn.account.found === undefined && !evaluatesAsClaimed(turn),
  reuse: (turn) => turn.account.found !== undefined && !evaluatesAsClaimed(turn),
  cells: ({ observed }) => (observed.wrongCells ?? null) !== null,
  'numerical parity': ({ observed }, parity) =>
    observed.parity !== null && parity !== null && differsFromText(observed.parity, parity),
  answers: ({ observed: { answer, sameAgain } }, parity) =>
    answer?.asGenerated === false ||
    (parity !== null && (answer?.shortfall ?? 0) > parityBound(parity)) ||
    (parity?.bitwiseEqual === true && sameAgain === false),
  'same memories': ({ observed: { memories } }) =>
    memories !== undefined &&
    [memories.foreign, memories.altered, memories.missing, memories.hidden, memories.elsewhere].some(
      ({ length }) => length > 0,
    ),
};

/** The checks that this turn alone fails, comma-separated; null if it fails none. */
export function failedChecks(turn: TurnRecord, parity: ParitySelfTest | null): string | null {
  if (turn.state === 'failed') return 'errors';
  const failed = Object.keys(turnChecks).filter((check) => turnChecks[check]!(turn, parity));
  return failed.length === 0 ? null : failed.join(',');
}
