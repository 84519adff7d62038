/** Tables of suites that measure without arms' answers: 8 (storage), 9 (leakage) and 12 (serving). */
import type { LeakMatrix, ServedLoad, ServingMeasurement, StorageMeasurement } from '../../store/records/measured.ts';
import type { RunResults } from '../../store/records/results.ts';
import { type Cell, countCell, countColumn, formatNumber, itemRows, numberCell, numberColumn, type Table, textCell } from '../../render/table.ts'; // prettier-ignore
import { titleWithProof } from '../proof.ts';

/** Table 8: bytes of KV on its tiers, beside those of the text. */
export function storageTable(results: RunResults, storage: readonly StorageMeasurement[]): Table {
  const timesText = ({ tokens, bytesPerToken }: StorageMeasurement): number | undefined => {
    const text = storage.find((row) => row.tier === 'text' && row.tokens === tokens);
    return text && bytesPerToken / text.bytesPerToken;
  };
  const number = (
    key: string,
    heading: string,
    value: (row: StorageMeasurement) => number | null | undefined,
    digits = 1,
  ) => numberColumn<StorageMeasurement>(key, heading, (row) => value(row), digits);
  return {
    id: 'table-8',
    caption: titleWithProof(
      `Table 8. Bytes of KV and of text, and time to save and load: ${results.run.model.name}`,
      results,
    ),
    rowHeading: 'stored as',
    ...itemRows(storage, ({ tier, kvType }) => (tier === 'text' ? `text, ${kvType}` : `${kvType}, ${tier}`), [
      {
        title: 'Size',
        columns: [
          number('tokens', 'tokens', ({ tokens }) => tokens, 0),
          number('bytes', 'bytes per token', ({ bytesPerToken }) => bytesPerToken),
          number('times', '× text', timesText),
        ],
      },
      {
        title: 'Time',
        columns: [
          number('saveP50', 'save p50 (ms)', ({ saveMs }) => saveMs?.p50, 2),
          number('saveP95', 'save p95 (ms)', ({ saveMs }) => saveMs?.p95, 2),
          number('loadP50', 'load p50 (ms)', ({ loadMs }) => loadMs?.p50, 2),
          number('loadP95', 'load p95 (ms)', ({ loadMs }) => loadMs?.p95, 2),
          number('evaluate', 'evaluate (ms)', ({ evaluateMs }) => evaluateMs, 2),
          number('gain', 'evaluate ÷ load', ({ evaluateMs, loadMs }) =>
            evaluateMs === null || loadMs === null ? null : evaluateMs / loadMs.p50,
          ),
        ],
      },
    ]),
    notes: [
      'Disk: a state as llama.cpp writes and reads it. Memory: a block; saving cuts it out of a state, loading joins it and',
      'imports it into llama.cpp through a file, the only way. Evaluate: the same tokens as text.',
    ],
  };
}

/** Table 9: cross-user leakage by arm; the matrix itself is a figure. */
export function leakTable(results: RunResults, leaks: readonly LeakMatrix[]): Table {
  const count = (key: string, heading: string, value: (matrix: LeakMatrix) => number) =>
    countColumn<LeakMatrix>(key, heading, (matrix) => value(matrix));
  return {
    id: 'table-9',
    caption: titleWithProof('Table 9. Cross-user leakage: secrets of one user in answers to another', results),
    rowHeading: 'arm',
    ...itemRows(leaks, ({ arm }) => arm, [
      {
        columns: [
          count(
            'owners',
            'users who got their own secret',
            ({ said }) => said.filter((row, user) => row[user]! > 0).length,
          ),
          count('pairs', 'pairs of users', ({ users }) => users.length * (users.length - 1)),
          count('answers', 'answers', ({ users, answers }) => users.length * answers),
          count('leaks', 'leaks', countLeaks),
          numberColumn('bound', 'upper bound (%)', ({ upperBound }) => upperBound * 100),
        ],
      },
    ]),
    notes: [
      'Every user has a secret and gets a question about it; then a stranger without one gets the same question. Upper bound: 95 %,',
      'by Clopper and Pearson, over the answers of one arm.',
    ],
  };
}

/** Answers that told a user the secret of another. */
export function countLeaks({ said }: LeakMatrix): number {
  return said.flatMap((row, user) => row.filter((_, owner) => owner !== user)).reduce((sum, count) => sum + count, 0);
}

/** Table 12: arms under load, one row per arm and rate. */
export function servingTable(results: RunResults, serving: ServingMeasurement): Table {
  const { sessions, conversations, recurrence, capacity, loads } = serving;
  const capacities = Object.entries(capacity).map(([arm, rate]) => `${arm} ${formatNumber(rate, 2)}`);
  const column = (key: string, heading: string, cell: (load: ServedLoad) => Cell) => numberColumn(key, heading, cell);
  const share = (count: number | null, turns: number) => numberCell(count === null ? null : (100 * count) / turns);
  return {
    id: 'table-12',
    caption: titleWithProof(
      `Table 12. TTFT under open-loop load, up to saturation: ${results.run.model.name}`,
      results,
    ),
    rowHeading: 'arm',
    ...itemRows(loads, ({ arm }) => arm, [
      {
        title: 'Time to first token, from the planned arrival',
        columns: [
          column('offered', 'arrival rate (1/s)', ({ offered }) => numberCell(offered, 2)),
          column('p50', 'p50 (ms)', ({ ttftMs }) => countCell(ttftMs?.p50)),
          column('p95', 'p95 (ms)', ({ ttftMs, saturated }) =>
            saturated ? textCell('saturated') : countCell(ttftMs?.p95),
          ),
          column('answered', 'answer rate (1/s)', ({ answered }) => numberCell(answered, 2)),
        ],
      },
      {
        title: 'Per turn',
        columns: [
          column('evaluated', 'tokens evaluated', ({ evaluatedTokens }) => numberCell(evaluatedTokens)),
          column('reused', 'tokens reused', ({ reusedTokens }) => numberCell(reusedTokens)),
          column('moved', 'KV moved (kB)', ({ movedBytes }) => countCell(movedBytes / 1000)),
          column('hits', 'cache hits (%)', ({ hits, turns }) => share(hits, turns)),
          column('same', 'same answer as rag (%)', ({ sameAsText, turns }) => share(sameAsText, turns)),
          column('errors', 'errors', ({ errors }) => countCell(errors)),
        ],
      },
    ]),
    notes: [
      `${conversations} conversations, ${loads[0]?.turns ?? 0} turns at each rate, ${sessions} answered at once; of the later turns of a conversation,`,
      `${formatNumber(100 * recurrence, 0)} % were planned to repeat a question (--recurrence). Each load begins with empty stores.`,
      'Saturated: the queue still grew at the end. p95 needs 100 turns.',
      `Capacity, turns per second when the next is always waiting: ${capacities.join(', ')}.`,
    ],
  };
}
