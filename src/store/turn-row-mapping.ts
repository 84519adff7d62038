import { differsFromText, parityBound, type RunProbes } from './records/run-probes.ts';
import {
  type AnsweredResult,
  type AnsweredTurn,
  evaluatesAsClaimed,
  type FailedTurn,
  type TurnRecord,
} from './records/turn-record.ts';

type KeyFields = 'state' | 'itemId' | 'userId' | 'arm' | 'repeat' | 'turn' | 'position';

/** The parts of a turn that statistics read, without its key. */
export type Measures = Omit<AnsweredResult, KeyFields> | Pick<FailedTurn, 'error'>;

/** The parts of an answered turn that only its own page and replays read. */
export type TurnDocument = NonNullable<ReturnType<typeof splitTurn>['document']>;

/** What decides a turn's marks in lists: the run's primary metric, and its self-test of numerical parity. */
export interface RunFacts {
  readonly primaryMetric: string;
  readonly parity: RunProbes['parity'] | null;
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

/** The parts of a turn together again, as `turnRecord` reads them. */
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

/** The values by which lists filter and sort turns, and that they show; columns of scores have the names of the scores. */
export function listColumns(turn: TurnRecord, run: RunFacts) {
  if (turn.state === 'failed') {
    return { truncated: false, answer: '', error: turn.error.message, failedChecks: failedChecks(turn, run) };
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
    failedChecks: failedChecks(turn, run),
    question: item.query,
    gold: item.gold,
    answer: turn.answer.text,
  };
}

/** The value of the primary metric: a score, a score of the calling program, or an observation of that name. */
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

/** The checks of `src/eval/analysis/checks` that a turn can fail by itself: comparisons with other arms are not among them. */
const turnChecks: Readonly<Record<string, (turn: AnsweredTurn, parity: RunFacts['parity']) => boolean>> = {
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

/** The checks that a turn fails by itself, comma-separated; null if it fails none. */
function failedChecks(turn: TurnRecord, { parity }: RunFacts): string | null {
  if (turn.state === 'failed') return 'errors';
  const failed = Object.keys(turnChecks).filter((check) => turnChecks[check]!(turn, parity));
  return failed.length === 0 ? null : failed.join(',');
}
