/** The list of turns that `tables --per-turn` writes: CSV or JSON Lines, one line per turn. */
import { builtInMetrics } from '../eval/analysis/metrics/built-in-metrics.ts';
import { redactResult } from '../eval/analysis/redact-turn.ts';
import { withholdsTexts } from '../eval/analysis/text-restrictions.ts';
import { unknownQuality, clearScores } from '../eval/analysis/unknown-quality.ts';
import { csvText, spreadsheetText } from '../render/table-csv.ts';
import { escapedControls } from '../render/escape-control-characters.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import type { AnsweredResult, TurnResult } from '../store/records/turn-record.ts';

type TurnValue = string | number | boolean | null | readonly string[];

interface TurnColumn {
  readonly name: string;
  readonly of: (turn: TurnResult, run: { readonly name: string; readonly suite: string }) => TurnValue;
}

function answered(name: string, of: (turn: AnsweredResult) => TurnValue): TurnColumn {
  return { name, of: (turn) => (turn.state === 'answered' ? of(turn) : null) };
}

function answeredFields<Name extends string>(
  names: readonly Name[],
  of: (turn: AnsweredResult) => Readonly<Record<Name, TurnValue>>,
): TurnColumn[] {
  return names.map((name) => answered(name, (turn) => of(turn)[name]));
}

/** All columns in order. Columns of metrics are named like the metric. */
export const turnColumns: readonly TurnColumn[] = [
  { name: 'run', of: (_turn, run) => run.name },
  { name: 'suite', of: (_turn, run) => run.suite },
  ...(['state', 'arm', 'userId', 'itemId', 'repeat', 'turn', 'position'] as const).map((name): TurnColumn => ({
    name,
    of: (turn) => turn[name],
  })),
  ...answeredFields(['language', 'category', 'phrasing', 'userKind', 'relation', 'condition'], ({ item }) => item),
  ...answeredFields(['memories', 'evidence', 'query', 'gold', 'acceptedAnswers', 'answerPrefix'], ({ item }) => item),
  answered('answer', ({ answer }) => answer.text),
  answered('cache', ({ account }) => account.cache),
  ...builtInMetrics.map((metric) => answered(metric.name, (turn) => metric.of(turn))),
  ...answeredFields(['wrongClass', 'failedStage', 'evidenceRank'], ({ scores }) => scores),
  ...answeredFields(['retrievedMemories', 'keptMemories'], ({ facts }) => facts),
  answered('closed', ({ observed }) => observed.closed),
  answered('bitwiseEqual', ({ observed }) => observed.parity?.bitwiseEqual ?? null),
  answered('parityDifference', ({ observed }) => observed.parity?.largestDifference ?? null),
  ...(['prompt', 'kvResident', 'evaluated', 'firstLayers', 'generated'] as const).map((name) =>
    answered(`${name}Tokens`, ({ tokens }) => tokens[name] ?? null),
  ),
  answered('positions', ({ tokens }) => tokens.positions),
  answered('builtTokens', ({ account }) => account.built),
  answered('recomputedTokens', ({ account }) => account.recomputed),
  answered('selectableTokens', ({ account }) => account.selection?.selectable ?? null),
  answered('selectedTokens', ({ account }) => account.selection?.selected ?? null),
  answered('splices', ({ account }) => account.selection?.splices ?? null),
  answered('recomputeMs', ({ account }) => account.selection?.ms ?? null),
  ...(['model', 'tokens', 'layers', 'ms'] as const).map((name) =>
    answered(`selector${name[0]!.toUpperCase()}${name.slice(1)}`, ({ account }) => account.selector?.[name] ?? null),
  ),
  ...(['retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode', 'total'] as const).map(
    (name) => answered(`${name}Ms`, ({ timings }) => timings[name]),
  ),
  { name: 'errorCode', of: (turn) => (turn.state === 'failed' ? turn.error.code : null) },
  { name: 'error', of: (turn) => (turn.state === 'failed' ? turn.error.message : null) },
];

export const turnFormats = ['csv', 'jsonl'] as const;
export type TurnFormat = (typeof turnFormats)[number];

export interface ListedRun {
  readonly run: Pick<RunRecord, 'name' | 'suite' | 'model' | 'dataset'>;
  readonly turns: Iterable<TurnResult>;
}

/** Lists become JSON, and null an empty cell. */
function csvField(value: TurnValue): string {
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return spreadsheetText(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Yields a line per turn. Scores of models with random weights are empty; hashes replace withheld texts. */
export function* turnLines(runs: Iterable<ListedRun>, format: TurnFormat): Generator<string, void, undefined> {
  if (format === 'csv') yield csvText([turnColumns.map(({ name }) => name)]);
  for (const { run, turns } of runs) {
    const judged = unknownQuality(run.model) === null;
    const withheld = withholdsTexts(run);
    for (const stored of turns) {
      const turn = withheld ? redactResult(stored) : stored;
      const shown = judged || turn.state === 'failed' ? turn : clearScores(turn);
      const values = turnColumns.map(({ name, of }) => [name, of(shown, run)] as const);
      yield format === 'csv'
        ? csvText([values.map(([, value]) => csvField(value))])
        : `${escapedControls(JSON.stringify(Object.fromEntries(values)))}\n`;
    }
  }
}
