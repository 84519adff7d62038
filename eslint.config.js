import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'docs/.vitepress/.temp/', 'coverage/', 'reports/', 'models/', 'datasets/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
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
  // An exception has a comment with its reason.
  {
    files: ['src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: { complexity: ['error', 12], 'max-params': ['error', 4], 'max-depth': ['error', 4] },
  },
  { files: ['examples/**'], rules: { 'no-console': 'off' } },
  { files: ['**/*.{js,mjs,cjs}'], extends: [tseslint.configs.disableTypeChecked], rules: { 'no-console': 'off' } },
  // Matchers such as expect.closeTo are typed as any.
  { files: ['**/*.test.ts'], rules: { '@typescript-eslint/no-unsafe-assignment': 'off' } },
  { files: ['scripts/**/*.ts', 'test/mutations/*.ts'], rules: { 'no-console': 'off' } },
);
