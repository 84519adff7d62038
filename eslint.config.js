import { readFileSync } from 'node:fs';
import tseslint from 'typescript-eslint';

/** The layers from the top, and the readers, which see stored runs alone. The import test reads the same file. */
const { order, readers } = JSON.parse(readFileSync(new URL('layers.json', import.meta.url), 'utf8'));

const noTestImports = { regex: String.raw`\.test(\.ts)?$`, message: 'Nothing imports from a test.' };

/** The preparation of questions sees the question alone: its own files and pure text, no store, service or model. */
const preRetrieval = 'src/retrieval/hinted/pre-retrieval';
const preRetrievalRule = {
  files: [`${preRetrieval}/**/*.ts`],
  ignores: ['**/*.test.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          noTestImports,
          {
            regex: String.raw`^(?!\./|(?:\.\./)+config/|(?:\.\./)+text-terms\.ts$|zod$)`,
            message: `${preRetrieval} does not import stores, services or models: it sees the question alone.`,
          },
        ],
      },
    ],
  },
};

const folders = [...new Set(order.map((layer) => layer.split('/')[0]))];

/** The rule for one layer, a folder or a part of one: importing from a layer above is an error, as is what is closed to readers. */
function layerRule(layer) {
  const [folder] = layer.split('/');
  const foldersAbove = folders.slice(0, folders.indexOf(folder));
  const closed = new Set([...foldersAbove, ...(readers.layers.includes(layer) ? readers.closed : [])]);
  const partsAbove = order.slice(0, Math.max(order.indexOf(layer), 0)).filter((part) => part.startsWith(`${folder}/`));
  const patterns = [...closed, ...partsAbove].map((other) => ({
    regex: String.raw`^(?:\.\./)+${other.split('/').at(-1)}/`,
    message: `src/${layer} does not import src/${other}: imports run downwards (layers.json).`,
  }));
  return {
    files: [`src/${layer}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns: [noTestImports, ...patterns] }] },
  };
}

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'coverage/', 'reports/', 'models/', 'datasets/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-imports': ['error', { patterns: [noTestImports] }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, varsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // An arrow that only calls is the shortest way to say that it calls.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // With noUncheckedIndexedAccess an index that a loop has bounded needs the mark.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // What `using` holds stays open until the work on it has ended.
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      // A port may be asynchronous where one of its implementations has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      // Text is taken apart by code point here, knowingly.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    },
  },
  // A part's rule replaces that of its folder.
  ...[...new Set([...folders, ...order])].map(layerRule),
  // Behind its layer's rule, which it replaces.
  preRetrievalRule,
  { files: ['examples/**'], rules: { 'no-console': 'off' } },
  { files: ['**/*.{js,mjs,cjs}'], extends: [tseslint.configs.disableTypeChecked], rules: { 'no-console': 'off' } },
  // Matchers such as expect.closeTo are typed as any.
  { files: ['**/*.test.ts'], rules: { '@typescript-eslint/no-unsafe-assignment': 'off' } },
  { files: ['scripts/**/*.ts'], rules: { 'no-console': 'off' } },
);
