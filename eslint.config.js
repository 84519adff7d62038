import tseslint from 'typescript-eslint';

/** The rooms of the house, from the top: imports run downwards only. */
const rooms = ['cli', 'inspect', 'report', 'eval', 'systems', 'memory', 'kv', 'llm', 'embedding', 'db', 'config'];

/** These read stored runs and nothing else, though the order alone would let them reach further. */
const readers = ['inspect', 'report'];
const closedToReaders = ['systems', 'memory', 'kv', 'llm'];

const noTestImports = { regex: String.raw`\.test(\.ts)?$`, message: 'Nothing imports from a test.' };

/** Prepares questions and never looks at a memory (seed 003): it reaches its own files, pure text, and nothing else. */
const preRetrieval = 'src/memory/strategies/hinted/pre-retrieval';
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

/** The rule for the files of one room. */
function roomRule(room, level) {
  const above = rooms.slice(0, level);
  const closed = readers.includes(room) ? [...above, ...closedToReaders] : above;
  const patterns = closed.map((other) => ({
    regex: String.raw`^(?:\.\./)+${other}/`,
    message: `src/${room} does not import src/${other}: imports run downwards (${rooms.join(' → ')}).`,
  }));
  return {
    files: [`src/${room}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns: [noTestImports, ...patterns] }] },
  };
}

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'reports/', 'models/', 'datasets/'] },
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
      // A port may be asynchronous where one of its implementations has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      // Text is taken apart by code point here, knowingly.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    },
  },
  ...rooms.map(roomRule),
  // Behind its room's rule, which it replaces.
  preRetrievalRule,
  { files: ['**/*.js', '**/*.mjs'], extends: [tseslint.configs.disableTypeChecked], rules: { 'no-console': 'off' } },
  // Matchers such as expect.closeTo are typed as any.
  { files: ['**/*.test.ts'], rules: { '@typescript-eslint/no-unsafe-assignment': 'off' } },
  { files: ['scripts/**/*.ts'], rules: { 'no-console': 'off' } },
);
