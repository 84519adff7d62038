import { builtInMetrics } from '../../eval/analysis/metrics/metrics.ts';
import type { AnsweredResult, TurnResult } from '../../store/records/turn-result.ts';

/** A value of a turn: null where there is none, a list where there may be several. */
type TurnValue = string | number | boolean | null | readonly string[];

/** A column of the list of turns, described in docs/results.md. */
interface TurnColumn {
  readonly name: string;
  readonly of: (turn: TurnResult, run: { readonly name: string; readonly suite: string }) => TurnValue;
}

function answered(name: string, of: (turn: AnsweredResult) => TurnValue): TurnColumn {
  return { name, of: (turn) => (turn.state === 'answered' ? of(turn) : null) };
}

/** Every column, in order; those of metrics have their names. */
export const turnColumns: readonly TurnColumn[] = [
  { name: 'run', of: (_turn, run) => run.name },
  { name: 'suite', of: (_turn, run) => run.suite },
  ...(['state', 'arm', 'userId', 'itemId', 'repeat', 'turn', 'position'] as const).map((name): TurnColumn => ({
    name,
    of: (turn) => turn[name],
  })),
  ...(['language', 'category', 'phrasing', 'userKind', 'relation', 'condition', 'memories', 'evidence'] as const).map(
    (name) => answered(name, ({ item }) => item[name]),
  ),
  answered('query', ({ item }) => item.query),
  answered('gold', ({ item }) => item.gold),
  answered('acceptedAnswers', ({ item }) => item.acceptedAnswers),
  answered('answerPrefix', ({ item }) => item.answerPrefix),
  answered('answer', ({ answer }) => answer.text),
  answered('cache', ({ account }) => account.cache),
  ...builtInMetrics.map((metric) => answered(metric.name, (turn) => metric.of(turn))),
  answered('wrongClass', ({ scores }) => scores.wrongClass),
  answered('failedStage', ({ scores }) => scores.failedStage),
  answered('evidenceRank', ({ scores }) => scores.evidenceRank),
  answered('retrievedMemories', ({ facts }) => facts.retrievedMemories),
  answered('keptMemories', ({ facts }) => facts.keptMemories),
  answered('closed', ({ observed }) => observed.closed),
  answered('bitwiseEqual', ({ observed }) => observed.parity?.bitwiseEqual ?? null),
  answered('parityDifference', ({ observed }) => observed.parity?.largestDifference ?? null),
  answered('promptTokens', ({ tokens }) => tokens.prompt),
  answered('kvResidentTokens', ({ tokens }) => tokens.kvResident),
  answered('evaluatedTokens', ({ tokens }) => tokens.evaluated),
  answered('firstLayersTokens', ({ tokens }) => tokens.firstLayers ?? null),
  answered('generatedTokens', ({ tokens }) => tokens.generated),
  answered('positions', ({ tokens }) => tokens.positions),
  answered('builtTokens', ({ account }) => account.built),
  answered('recomputedTokens', ({ account }) => account.recomputed),
  answered('selectableTokens', ({ account }) => account.selection?.selectable ?? null),
  answered('selectedTokens', ({ account }) => account.selection?.selected ?? null),
  answered('splices', ({ account }) => account.selection?.splices ?? null),
  answered('recomputeMs', ({ account }) => account.selection?.ms ?? null),
  answered('selectorModel', ({ account }) => account.selector?.model ?? null),
  answered('selectorTokens', ({ account }) => account.selector?.tokens ?? null),
  answered('selectorLayers', ({ account }) => account.selector?.layers ?? null),
  answered('selectorMs', ({ account }) => account.selector?.ms ?? null),
  ...(['retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode', 'total'] as const).map(
    (name) => answered(`${name}Ms`, ({ timings }) => timings[name]),
  ),
  { name: 'errorCode', of: (turn) => (turn.state === 'failed' ? turn.error.code : null) },
  { name: 'error', of: (turn) => (turn.state === 'failed' ? turn.error.message : null) },
];
