/** Tables 8 (storage), 9 (cross-user leakage) and 12 (serving under load), and figures 8 and 9. */
import { type Figure, type FigureRow, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { countText, formatNumber, groupedNumber } from '../../render/format-number.ts';
import { countColumn, numberCell, numberColumn, type Table, textCell, titled } from '../../render/table.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type {
  LeakMatrix,
  ServedLoad,
  ServingMeasurement,
  StorageMeasurement,
} from '../../store/records/suite-measurements.ts';
import { categories, distinct, facets, fieldQuantity, layer, nameAxis, quantity } from '../figures/figure-parts.ts';
import { runTable } from '../tables/table-parts.ts';
import { listed } from '../verdict-wording.ts';

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

function countLeaks({ said }: LeakMatrix): number {
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

/** `Bytes of a memory token: 2.3 as text; 2,048 as KV in F16, 893 times the text; …` */
function storageFinding(storage: readonly StorageMeasurement[], tokens: number): string {
  const longest = storage.filter((row) => row.tokens === tokens);
  const text = longest.find(({ tier }) => tier === 'text')?.bytesPerToken;
  const kept = longest
    .filter(({ tier }) => tier === 'memory')
    .map(({ kvType, bytesPerToken }) => {
      const times = text === undefined ? '' : `, ${groupedNumber(Math.round(bytesPerToken / text))} times the text`;
      return `${groupedNumber(Math.round(bytesPerToken))} as KV in ${kvType}${times}`;
    });
  const asText = text === undefined ? [] : [`${formatNumber(text, 1)} as text`];
  return `Bytes of a memory token: ${[...asText, ...kept].join('; ')}`;
}

/** Figure 8: bytes per token by tier and type of KV, on a logarithmic scale; undefined if not measured. */
export function storageFigure(results: RunResults): Figure | undefined {
  const storage = results.measured?.storage;
  if (storage === undefined || storage.length === 0) return undefined;
  const data = storage.map(({ tier, kvType, tokens: memoryTokens, bytesPerToken }) => {
    return { keptAs: `${tier === 'text' ? 'text' : 'KV'}, ${kvType}`, tier, memoryTokens, bytesPerToken };
  });
  const largest = Math.max(...data.map(({ memoryTokens }) => memoryTokens));
  const scale = { type: 'log', domainMin: 1, nice: true };
  const values = Array.from({ length: 7 }, (_, power) => 10 ** power);
  const words = data
    .filter(({ memoryTokens }) => memoryTokens === largest)
    .map((row) => `${row.keptAs}${row.tier === 'text' ? '' : ` on ${row.tier}`} ${formatNumber(row.bytesPerToken, 1)}`);
  return {
    id: 'storage',
    title: `Figure 8. ${storageFinding(storage, largest)}`,
    key: 'One mark per length of memory; the number is for the longest.',
    description: `Bytes per token, logarithmic, one mark per length of memory; at ${largest} tokens: ${words.join('; ')}.`,
    data,
    spec: {
      width: 270,
      height: 150,
      encoding: {
        y: nameAxis('keptAs', distinct(data.map(({ keptAs }) => keptAs))),
        yOffset: { field: 'tier', type: 'nominal', sort: ['text', 'memory', 'disk'] },
        x: fieldQuantity('bytesPerToken', 'Bytes per token', scale, { grid: true, format: ',d', values }),
      },
      layer: [
        {
          mark: { type: 'point', size: 60 },
          encoding: {
            color: categories('tier', { text: '#6b6f71', memory: '#ad420a', disk: '#268eea' }),
            shape: categories('tier', { text: 'circle', memory: 'diamond', disk: 'square' }),
          },
        },
        layer(
          `datum.memoryTokens == ${largest}`,
          { type: 'text', align: 'left', dx: 9 },
          { text: { field: 'bytesPerToken', type: 'quantitative', format: ',.4~r' } },
        ),
      ],
    },
  };
}

const OWN = 'own secret';
const FOREIGN = "another's secret: a leak";
/** An invisible row that makes the axes span all users if no secret was told. */
const GRID = 'grid';
const colours = { [OWN]: '#268eea', [FOREIGN]: '#d60022', [GRID]: 'transparent' };
const MAX_TICKS = 8;

const heading = (matrix: LeakMatrix): string => {
  const leaks = countLeaks(matrix);
  return `${matrix.arm}: ${leaks === 0 ? 'no leak' : countText(leaks, 'leak')}`;
};

/** A row for each asking user and each owner of a secret in the answers. Users are numbered, since their names are data. */
function leakRows(matrix: LeakMatrix): FigureRow[] {
  const found = matrix.said.flatMap((row, asker) =>
    row.flatMap((answers, owner) => {
      const secret = owner === asker ? OWN : FOREIGN;
      return answers === 0 ? [] : [{ panel: heading(matrix), asker: asker + 1, owner: owner + 1, secret, answers }];
    }),
  );
  return found.length > 0 ? found : [{ panel: heading(matrix), asker: 1, owner: 1, secret: GRID, answers: 0 }];
}

function leakFinding(leaks: readonly LeakMatrix[]): string {
  const leaking = leaks.filter((matrix) => countLeaks(matrix) > 0);
  if (leaking.length > 0) {
    const counts = leaking.map((matrix) => `${matrix.arm} (${countLeaks(matrix)} answers)`);
    return `${listed(counts)} told users another's secret`;
  }
  const bound = formatNumber(Math.max(...leaks.map(({ upperBound }) => upperBound)) * 100, 1);
  return `No arm of ${leaks.length} told a user another's secret: at most ${bound} % of answers do, by the upper 95 % bound`;
}

/** Figure 9: for each arm, which user was told the secret of which owner; undefined if not measured. */
export function leakFigure(results: RunResults): Figure | undefined {
  const leaks = results.measured?.leaks;
  if (leaks === undefined || leaks.length === 0) return undefined;
  const data = leaks.flatMap(leakRows);
  const users = Math.max(...leaks.map((matrix) => matrix.users.length));
  const few = Array.from({ length: users }, (_, user) => user + 1);
  const values = users <= MAX_TICKS ? few : [1, ...[1, 2, 3, 4].map((part) => Math.round((part * users) / 4))];
  const axis = { grid: true, values, format: 'd' };
  const scale = { domain: [0.5, users + 0.5], nice: false, zero: false };
  const words = leaks.map((matrix) => {
    const heard = matrix.said.filter((row, asker) => row[asker]! > 0).length;
    const bound = `upper 95 % bound ${formatNumber(matrix.upperBound * 100, 1)} % of the answers`;
    return `${heading(matrix)}, ${bound}, ${heard} of ${matrix.users.length} users were told their own`;
  });
  return {
    id: 'leaks',
    title: `Figure 9. ${leakFinding(leaks)}`,
    key: 'A filled cell: the user was told the secret of the owner.',
    description: `Users who asked against owners of the secret; only the diagonal may be filled. ${words.join('; ')}.`,
    data,
    spec: facets('panel', leaks.map(heading), 2, {
      width: HALF_PANEL_WIDTH,
      height: HALF_PANEL_WIDTH,
      transform: [
        { calculate: 'datum.asker - 0.5', as: 'left' },
        { calculate: 'datum.asker + 0.5', as: 'right' },
        { calculate: 'datum.owner - 0.5', as: 'below' },
        { calculate: 'datum.owner + 0.5', as: 'above' },
      ],
      mark: { type: 'rect' },
      encoding: {
        x: { field: 'left', ...quantity('User who asks', scale, axis) },
        x2: { field: 'right' },
        y: { field: 'below', ...quantity('Owner of the secret', { ...scale, reverse: true }, axis) },
        y2: { field: 'above' },
        color: categories('secret', colours, { symbolType: 'square', values: [OWN, FOREIGN] }),
      },
    }),
  };
}

/** The rates that each arm sustains; undefined for replayed traffic, which has one rate. */
export function servingFinding({ loads, replay }: ServingMeasurement): string | undefined {
  if (replay !== undefined) return undefined;
  const clauses = [...Map.groupBy(loads, ({ arm }) => arm)].map(([arm, ofArm]) => {
    const served = ofArm.filter(({ saturated, errors }) => !saturated && errors === 0).map(({ offered }) => offered);
    return `${arm} ${served.length === 0 ? 'none' : `${formatNumber(Math.max(...served), 2)}/s`}`;
  });
  return `Highest tested arrival rate that each arm sustains: ${clauses.join(', ')}.`;
}
