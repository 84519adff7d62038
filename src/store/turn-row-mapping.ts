import { type ParitySelfTest, differsFromText, parityBound } from './records/run-probes.ts';
import {
  type AnsweredResult,
  type AnsweredTurn,
  type FailedTurn,
  type TurnRecord,
  evaluatesAsClaimed,
} from './records/turn-record.ts';

type KeyFields = 'state' | 'itemId' | 'userId' | 'arm' | 'repeat' | 'turn' | 'position';

/** The parts of a turn that statistics read, without its key. */
export type Measures = Omit<AnsweredResult, KeyFields> | Pick<FailedTurn, 'error'>;

/** The parts of an answered turn that only the page of the turn and replays read. */
export type TurnDocument = NonNullable<ReturnType<typeof splitTurn>['document']>;

/** Facts of the run on which list columns depend: the primary metric, and the self-test of numerical parity. */
export interface RunFacts {
  readonly primaryMetric: string;
  readonly parity: ParitySelfTest | null;
}

/** Splits a turn into the parts that statistics read and the others. */
export function splitTurn(turn: TurnRecord) {
  if (turn.state === 'failed') return { measures: { error: turn.error } satisfies Measures, document: null };
  const { item, facts, account, timings, tokens, scores, prompt } = turn;
  const { retrieval, ...given } = turn.given;
  const { text, ...answer } = turn.answer;
  const { goldTokens, nextTokens, ...observed } = turn.observed;
  const { sizeBytes, memoryLines, ...prefill } = turn.prefill ?? {};
  const sizes = sizeBytes === undefined ? null : { sizeBytes, ...(memoryLines === undefined ? {} : { memoryLines }) };
  const measures: Measures = {
    item,
    facts,
    account,
    timings,
    tokens,
    scores,
    given: { retrieval },
    answer: { text },
    prefill: sizes,
    observed: { ...observed, goldTokens: { length: goldTokens.length } },
  };
  const tokenLists = { goldTokens, nextTokens };
  return { measures, document: { prompt, given, answer, prefill: turn.prefill && prefill, observed: tokenLists } };
}

/** Joins the parts of a turn for `turnRecord`. */
export function joinTurn(measures: Measures, document: TurnDocument | null): object {
  if ('error' in measures || document === null) return measures;
  return {
    ...measures,
    prompt: document.prompt,
    given: { ...measures.given, ...document.given },
    answer: { ...measures.answer, ...document.answer },
    prefill: measures.prefill && { ...measures.prefill, ...document.prefill },
    observed: { ...measures.observed, ...document.observed },
  };
}

/** The columns that lists show, filter and sort by; columns of scores have the names of the scores. */
export function listColumns(turn: TurnRecord, run: RunFacts) {
  if (turn.state === 'failed') {
    return { truncated: false, answer: '', error: turn.error.message, failedChecks: failedChecks(turn, run.parity) };
  }
  const { item, facts, scores, observed, timings, tokens } = turn;
  return {
    ...scores,
    category: item.category,
    truncated: facts.forced || facts.droppedMemories > 0 || facts.droppedHistory > 0,
    primaryValue: primaryValue(turn, run),
    goldLogProbability: observed.goldLogProbability,
    freeLogProbability: observed.freeLogProbability,
    firstTokenMs: timings.firstToken,
    totalMs: timings.total,
    promptTokens: tokens.prompt,
    kvResidentTokens: tokens.kvResident,
    evaluatedTokens: tokens.evaluated,
    generatedTokens: tokens.generated,
    cache: turn.account.cache,
    failedChecks: failedChecks(turn, run.parity),
    question: item.query,
    gold: item.gold,
    answer: turn.answer.text,
  };
}

/** Value of the primary metric: a score, a score of the calling program, or a field of `observed`. */
function primaryValue({ item, scores, observed }: AnsweredTurn, { primaryMetric }: RunFacts): number | null {
  if (primaryMetric === 'goldLogProb') {
    const tokens = observed.goldTokens.length;
    const { goldLogProbability } = observed;
    return item.gold === null || goldLogProbability === null || tokens === 0 ? null : goldLogProbability / tokens;
  }
  const values: Readonly<Record<string, unknown>> = { ...observed, ...scores };
  const value = scores.own?.[primaryMetric] ?? values[primaryMetric];
  return typeof value === 'number' ? value : null;
}

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
    [
      ...[memories.foreign, memories.altered, memories.missing, memories.hidden, memories.elsewhere],
      memories.misplaced ?? [],
    ].some(({ length }) => length > 0),
};

/** The checks that this turn alone fails, comma-separated; null if it fails none. */
function failedChecks(turn: TurnRecord, parity: ParitySelfTest | null): string | null {
  if (turn.state === 'failed') return 'errors';
  const failed = Object.keys(turnChecks).filter((check) => turnChecks[check]!(turn, parity));
  return failed.length === 0 ? null : failed.join(',');
}
