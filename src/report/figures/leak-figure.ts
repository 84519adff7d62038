import { type Figure, type FigureRow, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/table.ts';
import type { LeakMatrix } from '../../store/records/measured.ts';
import type { RunResults } from '../../store/records/results.ts';
import { countLeaks } from '../tables/measured-tables.ts';
import { categories, facets, quantity } from './figure-parts.ts';
import { listed } from './finding.ts';

const OWN = 'own secret';
const FOREIGN = "another's secret: a leak";
const MOST_TICKS = 8;
/** A row of no user, which spans the grid if no secret came out. */
const GRID = 'grid';

const heading = (matrix: LeakMatrix): string => {
  const leaks = countLeaks(matrix);
  return `${matrix.arm}: ${leaks === 0 ? 'no leak' : leaks === 1 ? '1 leak' : `${leaks} leaks`}`;
};

/** One row for each pair of users between whom a secret came out; users are numbered, since names are data. */
function leakRows(matrix: LeakMatrix): FigureRow[] {
  const found = matrix.said.flatMap((row, asker) =>
    row.flatMap((answers, owner) => {
      const secret = owner === asker ? OWN : FOREIGN;
      return answers === 0 ? [] : [{ panel: heading(matrix), asker: asker + 1, owner: owner + 1, secret, answers }];
    }),
  );
  return found.length > 0 ? found : [{ panel: heading(matrix), asker: 1, owner: 1, secret: GRID, answers: 0 }];
}

/** The arms that told secrets, or how often one that told none may tell some at most. */
function leakFinding(leaks: readonly LeakMatrix[], leaking: readonly LeakMatrix[]): string {
  if (leaking.length > 0) {
    const counts = leaking.map((matrix) => `${matrix.arm} (${countLeaks(matrix)} answers)`);
    return `${listed(counts)} told users another's secret`;
  }
  const bound = formatNumber(Math.max(...leaks.map(({ upperBound }) => upperBound)) * 100, 1);
  return `No arm of ${leaks.length} told a user another's secret: at most ${bound} % of answers do, by the upper 95 % bound`;
}

/** Figure 9: the matrix of users who asked and owners of the secrets that came out, by arm; undefined if nobody asked. */
export function leakFigure(results: RunResults): Figure | undefined {
  const leaks = results.measured?.leaks;
  if (leaks === undefined || leaks.length === 0) return undefined;
  const data = leaks.flatMap(leakRows);
  const users = Math.max(...leaks.map((matrix) => matrix.users.length));
  const few = Array.from({ length: users }, (_, user) => user + 1);
  const ticks = users <= MOST_TICKS ? few : [1, ...[1, 2, 3, 4].map((part) => Math.round((part * users) / 4))];
  const axis = { grid: true, values: ticks, format: 'd' };
  const scale = { domain: [0.5, users + 0.5], nice: false, zero: false };
  const leaking = leaks.filter((matrix) => countLeaks(matrix) > 0);
  const words = leaks.map((matrix) => {
    const heard = matrix.said.filter((row, asker) => row[asker]! > 0).length;
    const bound = `upper 95 % bound ${formatNumber(matrix.upperBound * 100, 1)} % of the answers`;
    return `${heading(matrix)}, ${bound}, ${heard} of ${matrix.users.length} users heard their own`;
  });
  return {
    id: 'leaks',
    title: `Figure 9. ${leakFinding(leaks, leaking)}`,
    key: 'A cell is filled where a secret of that owner came out to that user.',
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
        color: categories(
          'secret',
          { [OWN]: '#268eea', [FOREIGN]: '#d60022', [GRID]: 'transparent' },
          { symbolType: 'square', values: [OWN, FOREIGN] },
        ),
      },
    }),
  };
}
