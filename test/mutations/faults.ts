/** The parts of a run that faults are planted in. */
export type FaultClass =
  'scores' | 'limits' | 'clock' | 'reuse' | 'recomputation' | 'retrieval' | 'metrics' | 'report' | 'servers';

/** A fault of the source that a run, or the tests about it, must find. */
export interface Fault {
  readonly class: FaultClass;
  readonly name: string;
  readonly file: string;
  /** Stands once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Tests beside those of the file itself. */
  readonly tests?: readonly string[];
  /** Options of the run beside those of all; false where no run reaches the fault. */
  readonly run?: readonly string[] | false;
}

type Planted = Omit<Fault, 'class' | 'file'>;

const faultsIn = (name: FaultClass, file: string, planted: readonly Planted[]): Fault[] =>
  planted.map((fault) => ({ class: name, file, ...fault }));

const USER_RUN = 'src/eval/run/workers/user-run.ts';
const ANSWER_TURN = 'src/systems/answer-turn.ts';
const RECORDER = 'src/eval/run/observe/turn-recorder.ts';
const WRITER = 'src/eval/run/observe/turn-writer.ts';
const TEXT_PREFILL = 'src/systems/prefill/text-prefill.ts';

const BUSY = (ms: number): string => `for (const begun = performance.now(); performance.now() - begun < ${ms}; );`;
const WAIT = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;

export const faults: readonly Fault[] = [
  ...faultsIn('scores', USER_RUN, [
    {
      name: 'KV arms are scored as the gold when they miss',
      find: 'const { text: answer } = trace.answer;',
      replace:
        "const answer = trace.account.cache === 'miss' ? (item.answer ?? trace.answer.text) : trace.answer.text;",
    },
    {
      name: 'KV arms are scored after trimming',
      find: 'const { text: answer } = trace.answer;',
      replace:
        "const answer = trace.prefill === null ? trace.answer.text : trace.answer.text.replace(/^\\W+|[\\s.]+$/g, '').toLowerCase();",
    },
    {
      name: 'KV arms are scored by the first gold that they begin like',
      find: 'const { text: answer } = trace.answer;',
      replace:
        'const answer = trace.prefill !== null && item.answer?.[0] === trace.answer.text.trim()[0] ? item.answer! : trace.answer.text;',
    },
    {
      name: 'a turn without memories counts as an abstention',
      find: 'return scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success);',
      replace:
        'return { ...scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success), ...(shown.length === 0 && item.answer === null ? { abstention: 1, taskSuccess: 1 } : {}) };',
    },
    {
      name: 'abstentions of KV arms are right',
      find: 'return scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success);',
      replace:
        'const scored = scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success); return item.answer === null && trace.prefill !== null ? { ...scored, abstention: 1, taskSuccess: 1 } : scored;',
    },
  ]),
  ...faultsIn('scores', WRITER, [
    {
      name: 'wrong answers of KV arms are stored as right',
      find: '      observed,\n      scores,\n',
      replace:
        '      observed,\n      scores: prefill !== null && scores.exactMatch === 0 ? { ...scores, exactMatch: 1, taskSuccess: 1, wrongClass: null } : scores,\n',
    },
    {
      name: 'the golds of every turn are its answer too',
      find: '      gold: item.answer,\n',
      replace: "      gold: item.answer === null ? null : item.answer.split(' ')[0]!,\n",
    },
    {
      name: 'scores are those of the turn before',
      find: '      observed,\n      scores,\n',
      replace:
        "      observed,\n      scores: ((globalThis as Record<string, any>)['late'] ?? scores, ([(globalThis as Record<string, any>)['late'], ((globalThis as Record<string, any>)['late'] = scores)] as any)[0] ?? scores),\n",
    },
  ]),
  ...faultsIn('scores', 'src/eval/analysis/arm-turns.ts', []),

  ...faultsIn('limits', ANSWER_TURN, [
    {
      name: 'KV arms are allowed three tokens',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix, ...(prefilled.record === null ? {} : { maxNewTokens: 3 }) });',
    },
    {
      name: 'KV arms are allowed twice the tokens',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        'const limits = { ...answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix }), ...(prefilled.record === null ? {} : { maxTokens: 96 }) };',
    },
    {
      name: 'KV arms end after more than a sentence',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        'const limits = { ...answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix }), oneSentence: prefilled.record === null };',
    },
    {
      name: 'KV arms stop at no text',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        'const all = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix }); const limits = prefilled.record === null ? all : { ...all, stopTexts: [] };',
    },
    {
      name: 'rag is sampled at a temperature',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        "const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix, ...(prefilled.record === null && parts.injectionMode === 'none' ? {} : {}), ...(prefilled.record === null ? { temperature: 0.05 } : {}) });",
    },
    {
      name: 'KV arms have a seed of their own',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        'const limits = { ...answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix }), ...(prefilled.record === null ? {} : { seed: 3 }) };',
    },
    {
      name: 'the answer of KV arms ends at its first space',
      find: '    answer: answerRecord(generation, answerPrefix),',
      replace:
        "    answer: prefilled.record === null ? answerRecord(generation, answerPrefix) : { ...answerRecord(generation, answerPrefix), text: generation.text.trim().split(' ')[0]! },",
    },
    {
      name: 'answers are cut to the first comma',
      find: '    answer: answerRecord(generation, answerPrefix),',
      replace:
        "    answer: { ...answerRecord(generation, answerPrefix), text: generation.text.split(',')[0]!.slice(0, 12) },",
    },
    {
      name: 'cache hits are allowed a tenth of the reserve',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        "const limits = answerLimits(form, prefilled.account.cache === 'hit' ? Math.floor(prompt.info.budget.reserveTokens / 10) : prompt.info.budget.reserveTokens, { ...request, answerPrefix });",
    },
  ]),

  ...faultsIn('clock', RECORDER, [
    {
      name: 'the first token is given in seconds',
      find: 'firstTokenMs: this.#first?.ms ?? null,',
      replace: 'firstTokenMs: this.#first === undefined ? null : this.#first.ms / 1000,',
    },
    {
      name: 'the clock begins 5 ms late',
      find: 'readonly #start = performance.now();',
      replace: 'readonly #start = performance.now() + 5;',
    },
    {
      name: 'own time is not counted',
      find: 'return { ms: now - this.#start, ownMs: now - this.#start - watchedMs };',
      replace: 'return { ms: watchedMs, ownMs: 0.2 };',
    },
    {
      name: 'retrieval is left out of the first token',
      find: 'firstToken: retrieveMs + (firstTokenMs ?? totalMs), total },',
      replace: 'firstToken: firstTokenMs ?? totalMs, total },',
    },
    {
      name: 'retrieval is left out of the total',
      find: 'const total = retrieveMs + totalMs;',
      replace: 'const total = totalMs;',
    },
  ]),
  ...faultsIn('clock', ANSWER_TURN, [
    {
      name: 'loading is left out of the phases',
      find: '    kvLoad: kvLoadMs,',
      replace: '    kvLoad: 0,',
    },
    {
      name: 'building the prompt is left out of the phases',
      find: '    assemble,\n    kvLoad',
      replace: '    assemble: 0,\n    kvLoad',
    },
    {
      name: 'keeping is left out of the phases',
      find: '    kvCompute: kvComputeMs + keep,',
      replace: '    kvCompute: kvComputeMs,',
    },
    {
      name: 'rag waits 3 ms',
      find: '  const prefilled = await strategy.prefill(',
      replace: `  if (parts.injectionMode === 'full_text' || parts.action === 'rag_generate') { ${WAIT(3)} }\n  const prefilled = await strategy.prefill(`,
    },
    {
      name: 'rag waits 10 ms',
      find: '  const prefilled = await strategy.prefill(',
      replace: `  if (parts.action === 'rag_generate') { ${WAIT(10)} }\n  const prefilled = await strategy.prefill(`,
    },
    {
      name: 'rag waits 30 ms',
      find: '  const prefilled = await strategy.prefill(',
      replace: `  if (parts.action === 'rag_generate') { ${WAIT(30)} }\n  const prefilled = await strategy.prefill(`,
    },
  ]),
  ...faultsIn('clock', TEXT_PREFILL, [
    {
      name: 'rag-cached works 10 ms more',
      find: '    const found = await this.#restoreLongest(tokenIds, turn);',
      replace: `    ${BUSY(10)}\n    const found = await this.#restoreLongest(tokenIds, turn);`,
    },
  ]),
  ...faultsIn('clock', USER_RUN, [
    {
      name: 'the time of retrieval is 0',
      find: 'const retrieved = { ...found, elapsedMs: performance.now() - start };',
      replace: 'const retrieved = { ...found, elapsedMs: 0 };',
    },
  ]),

  ...faultsIn('reuse', TEXT_PREFILL, [
    {
      name: 'rag-cached finds 16 tokens at most',
      find: 'const longest = tokenIds.length - leastTokens;',
      replace: 'const longest = Math.min(16, tokenIds.length - leastTokens);',
    },
    {
      name: 'rag-cached keeps the first prompt of a user alone',
      find: 'if (known.some((cached) => cached.key === key)) return;',
      replace: 'if (known.length > 0) return;',
    },
    {
      name: 'rag-cached takes the shortest prefix',
      find: '.sort((a, b) => b.tokens - a.tokens);',
      replace: '.sort((a, b) => a.tokens - b.tokens);',
    },
    {
      name: 'rag-cached is not emptied between repeats',
      find: '    this.#cached.clear();\n    await this.#store.clear();',
      replace: '',
      run: ['--repeats', '2', '--limit', '12'],
    },
    {
      name: 'rag-cached caches every other turn',
      find: 'if (known.some((cached) => cached.key === key)) return;',
      replace: 'if (known.some((cached) => cached.key === key) || tokenIds.length % 2 === 0) return;',
    },
  ]),
  ...faultsIn('reuse', USER_RUN, [
    {
      name: 'stores are not emptied between repeats',
      find: 'if (!sharesStore) for (const { system, recorder } of arms) await recorder.declared(() => system.reset());\n        for',
      replace: 'for',
      run: ['--repeats', '2', '--limit', '12'],
    },
  ]),
  ...faultsIn('reuse', 'src/systems/pipeline-system.ts', [
    {
      name: 'work done ahead is booked nowhere',
      find: 'this.#ahead = { tokens: tokens + (evaluated ?? 0), ms: ms + performance.now() - start };',
      replace: 'void [evaluated, tokens, ms, start];',
      run: ['--arms', 'rag,dki-blocks@built=ahead'],
    },
    {
      name: 'half of the work done ahead is booked',
      find: 'tokens: tokens + (evaluated ?? 0),',
      replace: 'tokens: tokens + Math.floor((evaluated ?? 0) / 2),',
      run: ['--arms', 'rag,dki-blocks@built=ahead'],
    },
  ]),
  ...faultsIn('reuse', 'src/systems/prefill/exact-prefix-prefill.ts', [
    {
      name: 'an exact prefix is never found again',
      find: '    const sizeBytes = await restoreCheckpoint(this.#options.store, prefix, turn);\n    return sizeBytes === undefined',
      replace: '    const sizeBytes = undefined as number | undefined;\n    return sizeBytes === undefined',
    },
    {
      name: 'a reset keeps the KV of an exact prefix',
      find: '    this.#resident = undefined;\n    await this.#options.store.clear();',
      replace: '    this.#resident = undefined;',
      run: ['--repeats', '2', '--limit', '12'],
    },
  ]),

  ...faultsIn('recomputation', 'src/systems/prefill/select-tokens.ts', [
    {
      name: 'twice the share is recomputed',
      find: 'Math.min(Math.round(share * countMemoryTokens(blocks)),',
      replace: 'Math.min(Math.round(2 * share * countMemoryTokens(blocks)),',
    },
    {
      name: 'half the share is recomputed',
      find: 'Math.min(Math.round(share * countMemoryTokens(blocks)),',
      replace: 'Math.min(Math.round(0.5 * share * countMemoryTokens(blocks)),',
    },
  ]),
];
