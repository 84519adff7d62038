import { failedChecks } from './turn-checks.ts';
import type { ParitySelfTest } from './records/parity-self-test.ts';
import { type AnsweredResult, type AnsweredTurn, type FailedTurn, type TurnRecord } from './records/turn-record.ts';

type KeyFields = 'state' | 'itemId' | 'userId' | 'arm' | 'repeat' | 'turn' | 'position';

/** The parts of a turn that statistics read, without its key. */
export type Measures = Omit<AnsweredResult, KeyFields> | Pick<FailedTurn, 'error'>;

/** The parts of an answered turn that only its own page and replays read. */
export type TurnDocument = NonNullable<ReturnType<typeof splitTurn>['document']>;

/** What decides a turn's marks in lists: the run's primary metric, and its self-test of numerical parity. */
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
