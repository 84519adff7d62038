/** Tables 8 (storage), 9 (cross-user leakage) and 12 (serving under load). */
import type { LeakMatrix, ServedLoad, ServingMeasurement, StorageMeasurement } from '../../store/records/suite-measurements.ts'; // prettier-ignore
import type { RunResults } from '../../store/records/run-results.ts';
import { countColumn, numberCell, numberColumn, type Table, textCell, titled } from '../../render/table.ts';
import { formatNumber } from '../../render/format-number.ts';
import { runTable } from './table-parts.ts';

export function storageTable(results: RunResults, storage: readonly StorageMeasurement[]): Table {
  const timesText = ({ tokens, bytesPerToken }: StorageMeasurement): number | undefined => {
    const text = storage.find((row) => row.tier === 'text' && row.tokens === tokens);
    return text && bytesPerToken / text.bytesPerToken;
  };
  const label = ({ tier, kvType }: StorageMeasurement) => (tier === 'text' ? `text, ${kvType}` : `${kvType}, ${tier}`);
  return runTable(results, storage, label, {
    id: 'table-8',
    title: `Table 8. Bytes of KV and of text, and time to save and load: ${results.run.model.name}`,
    rowHeading: 'stored as',
    blocks: [
      titled('Size', [
        countColumn('tokens', 'tokens', ({ tokens }) => tokens),
        numberColumn('bytes', 'bytes per token', ({ bytesPerToken }) => bytesPerToken),
        numberColumn('times', '× text', timesText),
      ]),
      titled('Time', [
        numberColumn('saveP50', 'save p50 (ms)', ({ saveMs }) => saveMs?.p50, 2),
        numberColumn('saveP95', 'save p95 (ms)', ({ saveMs }) => saveMs?.p95, 2),
        numberColumn('loadP50', 'load p50 (ms)', ({ loadMs }) => loadMs?.p50, 2),
        numberColumn('loadP95', 'load p95 (ms)', ({ loadMs }) => loadMs?.p95, 2),
        numberColumn('evaluate', 'evaluate (ms)', ({ evaluateMs }) => evaluateMs, 2),
        numberColumn('gain', 'evaluate ÷ load', ({ evaluateMs: ms, loadMs }) => ms && loadMs && ms / loadMs.p50),
      ]),
    ],
    notes: [
      'Disk: a state that llama.cpp writes and reads. Memory: a block; saving cuts it out of a state, and loading joins it and',
      'imports it into llama.cpp through a file, since llama.cpp has no other import. Evaluate: prefill of the same tokens as text.',
    ],
  });
}

/** Table 9: cross-user leakage by arm; figure 9 has the matrix. */
export function leakTable(results: RunResults, leaks: readonly LeakMatrix[]): Table {
  const owners = ({ said }: LeakMatrix) => said.filter((row, user) => row[user]! > 0).length;
  return runTable(results, leaks, ({ arm }) => arm, {
    id: 'table-9',
    title: 'Table 9. Cross-user leakage: secrets of one user in answers to another',
    columns: [
      countColumn('owners', 'users who got their own secret', owners),
      countColumn('pairs', 'pairs of users', ({ users }) => users.length * (users.length - 1)),
      countColumn('answers', 'answers', ({ users, answers }) => users.length * answers),
      countColumn('leaks', 'leaks', countLeaks),
      numberColumn('bound', 'upper bound (%)', ({ upperBound }) => upperBound * 100),
    ],
    notes: [
      'Every user has a secret and is asked about it; then a user without a secret is asked the same. Upper bound: 95 %, by Clopper',
      'and Pearson, over the answers of one arm.',
    ],
  });
}

export function countLeaks({ said }: LeakMatrix): number {
  return said.flatMap((row, user) => row.filter((_, owner) => owner !== user)).reduce((sum, count) => sum + count, 0);
}

export function servingTable(results: RunResults, serving: ServingMeasurement): Table {
  const { sessions, conversations, recurrence, capacity, loads, replay } = serving;
  const capacities = Object.entries(capacity).map(([arm, rate]) => `${arm} ${formatNumber(rate, 2)}`);
  const share = (count: number | null, { turns, errors }: ServedLoad) => count && (100 * count) / (turns - errors);
  return runTable(results, loads, ({ arm }) => arm, {
    id: 'table-12',
    title: `Table 12. ${replay === undefined ? 'TTFT under open-loop load, up to saturation' : 'TTFT under replayed traffic'}: ${results.run.model.name}`,
    blocks: [
      titled('Time to first token, from the planned arrival', [
        numberColumn('offered', 'arrival rate (1/s)', ({ offered }) => offered, 2),
        countColumn('p50', 'p50 (ms)', ({ ttftMs }) => ttftMs?.p50),
        numberColumn('p95', 'p95 (ms)', ({ ttftMs, saturated }) =>
          saturated ? textCell('saturated') : numberCell(ttftMs?.p95, 0),
        ),
        numberColumn('answered', 'answer rate (1/s)', ({ answered }) => answered, 2),
      ]),
      titled('Per turn', [
        numberColumn('evaluated', 'tokens evaluated', ({ evaluatedTokens }) => evaluatedTokens),
        numberColumn('reused', 'tokens reused', ({ reusedTokens }) => reusedTokens),
        countColumn('moved', 'KV moved (kB)', ({ movedBytes }) => movedBytes / 1000),
        numberColumn('hits', 'cache hits (%)', (load) => share(load.hits, load)),
        numberColumn('same', 'same answer as rag (%)', (load) => share(load.sameAsText, load)),
        countColumn('errors', 'errors', ({ errors }) => errors),
      ]),
    ],
    notes: [
      ...replayNotes(serving),
      `${conversations} conversations, ${loads[0]?.turns ?? 0} turns at each rate, ${sessions} answered at once. After the first turn of a`,
      `conversation, ${formatNumber(100 * recurrence, 0)} % of turns repeat a question${replay === undefined ? ' (--recurrence)' : ''}. Each load begins with empty stores.`,
      'Saturated: the queue still grew at the end. p95 needs 100 turns.',
      `Capacity, turns per second with a turn always waiting: ${capacities.join(', ')}.`,
    ],
  });
}

function replayNotes({ replay, loads }: ServingMeasurement): string[] {
  if (replay === undefined) return [];
  const { trace, by, users, dataUsers } = replay;
  const when =
    by === 'timestamps'
      ? 'each sent at its time in the trace'
      : 'later turns of a conversation sent after its last answer and the recorded gap (think time)';
  return [
    `Arrivals of trace ${trace}: its first ${loads[0]?.turns ?? 0} turns, ${when}.`,
    `Its ${users} users ask the questions of ${dataUsers} users of the data.`,
  ];
}
