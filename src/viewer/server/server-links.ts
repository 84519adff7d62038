import type { Links } from '../links.ts';

type Value = string | number | true | undefined;

/** A fixed path with parameters: names from data are in the query only, never in the path. */
function address(path: string, values: Readonly<Record<string, Value>>): string {
  const given = Object.entries(values).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value === true ? '1' : String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** Addresses of the viewer's server. */
export const serverLinks: Links = {
  answered: true,
  opensTurns: true,
  runs: () => '/',
  run: (run, query = {}) => address('/run', { run, ...query }),
  watch: (run) => address('/watch', { run }),
  watchEvents: (run) => address('/watch/events', { run }),
  matrix: (run, query = {}) => address('/matrix', { run, ...query }),
  table: (run, table) => address('/table', { run, table }),
  figure: (run, figure) => address('/figure.svg', { run, figure }),
  item: (run, item) => address('/item', { run, item }),
  turn: ({ run, item, arm, repeat, turn }, { against } = {}) =>
    address('/turn', { run, item, arm, repeat, turn, against }),
  turnJson: ({ run, item, arm, repeat, turn }) => address('/turn.json', { run, item, arm, repeat, turn }),
  pair: ({ run, item, arm, repeat, turn }, other) => address('/pair', { run, item, arm, repeat, turn, other }),
  compare: (a, b, { page, force } = {}) =>
    address('/compare', { a: a.run, armA: a.arm, b: b.run, armB: b.arm, page, force }),
  style: () => '/style.css',
  script: () => '/viewer.js',
};

/** Addresses of a viewer of reports, which hold the outcomes of turns and no turns. */
export const reportLinks: Links = {
  ...serverLinks,
  opensTurns: false,
  turn: ({ run, item }) => serverLinks.item(run, item),
};
