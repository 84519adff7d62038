/**
 * Which part of `src` may import which. Imports run down `layers`; what else is forbidden stands in the rules below, each
 * with its reason. `test/contract/import-rules.test.ts` tries each of them with an import that it must refuse.
 */

/** Folders of `src` from the top down; a folder may import those behind it. */
export const layers = [
  'cli',
  'viewer',
  'report',
  'render',
  'bench',
  'eval',
  'data',
  'systems',
  'kv',
  'retrieval',
  'engine',
  'models',
  'store',
  'config',
  'base',
];

/** Folders within a layer, from the top down. */
const parts = [
  ['eval/suites', 'eval/run', 'eval/analysis'],
  ['systems/arms', 'systems/prefill', 'systems/prompt'],
];

const test = String.raw`\.test\.ts$`;
const inside = (...folders) => `^src/(${folders.join('|')})/`;

const downwards = [layers, ...parts].flatMap((order) =>
  order.slice(1).map((layer, index) => ({
    name: `${layer} imports nothing above it`,
    severity: 'error',
    from: { path: inside(layer), pathNot: test },
    to: { path: inside(...order.slice(0, index + 1)) },
  })),
);

/** An engine's adapter is known to its own folder, the list of adapters, and the tests of the port. */
const adapters = ['llama-cpp', 'llama-server', 'openai'].map((adapter) => ({
  name: `engine/${adapter} is imported through engine/adapters.ts`,
  severity: 'error',
  from: {
    path: '^src/',
    pathNot: [
      inside(`engine/${adapter}`),
      '^src/engine/adapters.ts$',
      String.raw`^src/engine/.*\.test\.ts$`,
      '^src/llama-server.ts$',
    ],
  },
  to: { path: inside(`engine/${adapter}`) },
}));

export default {
  forbidden: [
    ...downwards,
    ...adapters,
    { name: 'no cycle', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    {
      name: 'nothing imports a test',
      severity: 'error',
      from: {},
      to: { path: test },
    },
    {
      name: 'viewer and report read stored runs',
      comment: 'They show what was recorded; nothing in them can answer a question.',
      severity: 'error',
      from: { path: inside('viewer', 'report', 'render'), pathNot: test },
      to: { path: inside('systems', 'kv', 'retrieval', 'engine') },
    },
    {
      name: 'pre-retrieval sees the question alone',
      severity: 'error',
      from: { path: '^src/retrieval/hinted/pre-retrieval/', pathNot: test },
      to: {
        path: '^src/',
        pathNot: ['^src/retrieval/hinted/pre-retrieval/', '^src/retrieval/text-terms.ts$', inside('config', 'base')],
      },
    },
    {
      name: 'node-llama-cpp belongs to its adapter',
      severity: 'error',
      from: { path: '^src/', pathNot: inside('engine/llama-cpp') },
      to: { path: '(^|node_modules/)@?node-llama-cpp' },
    },
    {
      name: 'the list of adapters is for the bench',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/bench/select-engine.ts$', String.raw`^src/engine/.*\.test\.ts$`] },
      to: { path: '^src/engine/adapters.ts$' },
    },
    {
      name: 'the llama-server entry loads no bench and no other engine',
      severity: 'error',
      from: { path: '^src/llama-server.ts$' },
      to: {
        reachable: true,
        path: '^src/',
        pathNot: [inside('base', 'config', 'models', 'store/records', 'kv', 'engine'), '^src/llama-server.ts$'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
