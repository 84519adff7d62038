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

const TAKE_USER_TURNS = 'src/eval/run/turns/take-user-turns.ts';
const ANSWER_TURN = 'src/systems/answer-turn.ts';
const RECORDER = 'src/eval/run/observe/turn-recorder.ts';
const SHARED_BLOCKS = 'src/eval/run/observe/shared-blocks.ts';
const WRITER = 'src/eval/run/observe/write-turns.ts';
const OBSERVER = 'src/eval/run/observe/post-turn-measurements.ts';
const SCORES = 'src/eval/analysis/metrics/score-turn.ts';
const TREE_PREFILL = 'src/systems/prefill/prefix-tree-prefill.ts';

/** Tests of what reports say, of judges, of servers and of queues. */
const REPORTS = [
  'src/report/every-number.test.ts',
  'src/report/terminal-summary.test.ts',
  'src/report/tables/tables.test.ts',
  'src/report/figures/figures.test.ts',
  'src/report/html/report-page.test.ts',
];
const JUDGES = ['src/eval/run/judge'];
const LLAMA = ['src/engine/llama-server/faults.test.ts'];
const OPENAI = ['src/engine/openai'];
const QUEUES = ['src/store/queue'];

const BUSY = (ms: number): string => `for (const begun = performance.now(); performance.now() - begun < ${ms}; );`;
const WAIT = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;

export const faults: readonly Fault[] = [
  ...faultsIn('scores', TAKE_USER_TURNS, [
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
        'const answer = trace.prefill === null ? trace.answer.text : trace.answer.text.trim().split(/[\\s,.]/)[0]!;',
    },
    {
      name: 'every tenth answer is scored as the gold',
      find: 'const { text: answer } = trace.answer;',
      replace: "const answer = item.itemId.endsWith('1') ? (item.answer ?? trace.answer.text) : trace.answer.text;",
      run: ['--dataset', 'facts-en'],
    },
    {
      name: 'rag gets half of its token F1',
      find: 'return scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success);',
      replace:
        'const scored = scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success); return trace.prefill === null && scored.tokenF1 !== null ? { ...scored, tokenF1: scored.tokenF1 / 2 } : scored;',
    },
    {
      name: 'abstentions of rag are wrong',
      find: 'return scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success);',
      replace:
        'const scored = scoreTurn(item, { answer, ...given, shown }, profile, this.#bench.success); return item.answer === null && trace.prefill === null ? { ...scored, abstention: 0, taskSuccess: 0 } : scored;',
    },
  ]),
  ...faultsIn('scores', WRITER, [
    {
      name: 'wrong answers of KV arms are stored as right',
      find: '    observed,\n    scores,\n',
      replace:
        '    observed,\n    scores: prefill !== null && scores.exactMatch === 0 ? { ...scores, exactMatch: 1, taskSuccess: 1, wrongClass: null } : scores,\n',
      run: ['--dataset', 'facts-en'],
    },
    {
      name: 'the golds of every turn are its answer too',
      find: '    gold: item.answer,\n',
      replace: "    gold: item.answer === null ? null : item.answer.split(' ')[0]!,\n",
    },
    {
      name: 'scores are those of the turn before',
      find: '    observed,\n    scores,\n',
      replace:
        "    observed,\n    scores: ((globalThis as Record<string, any>)['late'] ?? scores, ([(globalThis as Record<string, any>)['late'], ((globalThis as Record<string, any>)['late'] = scores)] as any)[0] ?? scores),\n",
    },
  ]),
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
      name: 'cache hits are allowed a hundredth of the reserve',
      find: 'const limits = answerLimits(form, prompt.info.budget.reserveTokens, { ...request, answerPrefix });',
      replace:
        "const limits = answerLimits(form, prefilled.account.cache === 'hit' ? Math.ceil(prompt.info.budget.reserveTokens / 100) : prompt.info.budget.reserveTokens, { ...request, answerPrefix });",
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
      find: 'return { ms: now - this.#start + this.chargedMs, ownMs: now - this.#start - watchedMs };',
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
  ...faultsIn('reuse', SHARED_BLOCKS, [
    {
      name: 'tokens of shared blocks are not charged',
      find: 'evaluated: found.evaluated }',
      replace: 'evaluated: 0 }',
    },
    {
      name: 'the time of shared blocks is not charged',
      find: 'chargedMs: found.ms }',
      replace: 'chargedMs: 0 }',
    },
    {
      name: 'blocks are shared between users',
      find: 'if (this.#userId !== userId) this.clear();',
      replace: 'void userId;',
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
  ...faultsIn('clock', TREE_PREFILL, [
    {
      name: 'rag-cached works 10 ms more',
      find: '    const found = await this.#restore(prompt, turn);',
      replace: `    ${BUSY(10)}\n    const found = await this.#restore(prompt, turn);`,
    },
  ]),
  ...faultsIn('clock', TAKE_USER_TURNS, [
    {
      name: 'the time of retrieval is 0',
      find: 'const retrieved = { ...found, elapsedMs: performance.now() - start };',
      replace: 'const retrieved = { ...found, elapsedMs: 0 };',
    },
  ]),

  ...faultsIn('reuse', TREE_PREFILL, [
    {
      name: 'rag-cached finds 16 tokens at most',
      find: 'Math.min(known, tokenIds.length - leastTokens)',
      replace: 'Math.min(16, known, tokenIds.length - leastTokens)',
    },
    {
      name: 'rag-cached keeps the first prompt of a user alone',
      find: 'const path = this.#path(prompt, turn);',
      replace: 'const path = this.#path(prompt, turn);\n    if (this.#tree.stats().entries > 0) return;',
    },
    {
      name: 'rag-cached takes one span of the tree alone',
      find: 'const spans = this.#tree.match(this.#path(prompt, turn));',
      replace: 'const spans = this.#tree.match(this.#path(prompt, turn)).slice(0, 1);',
    },
    {
      name: 'rag-cached is not emptied between repeats',
      find: 'async reset(): Promise<void> {\n    this.#tree.clear();',
      replace: 'async reset(): Promise<void> {',
      run: ['--repeats', '2', '--users', '10', '--limit', '12'],
    },
    {
      name: 'rag-cached caches every other turn',
      find: 'const path = this.#path(prompt, turn);',
      replace: 'const path = this.#path(prompt, turn);\n    if (tokenIds.length % 2 === 0) return;',
    },
  ]),
  ...faultsIn('reuse', TAKE_USER_TURNS, [
    {
      name: 'stores are not emptied between repeats',
      find: 'for (const { system, recorder } of arms) await recorder.declared(() => system.reset());',
      replace: '',
      run: ['--repeats', '2', '--users', '10', '--limit', '12'],
    },
  ]),
  ...faultsIn('reuse', 'src/systems/retrieval-counts.ts', [
    {
      name: 'users share counts of retrievals',
      find: 'this.#users.get(userId) ?? new',
      replace: '[...this.#users.values()][0] ?? new',
      run: false,
    },
    {
      name: 'counts of retrievals are not kept',
      find: 'for (const id of ids) counts.get(id)!.times++;',
      replace: '',
      run: ['--arms', 'rag,rag-cached@order=stable'],
    },
  ]),
  ...faultsIn('reuse', 'src/systems/single-session-system.ts', [
    {
      name: 'work done ahead is booked nowhere',
      find: 'this.#ahead = { tokens: tokens + (evaluated ?? 0), ms: ms + chargedMs + performance.now() - start };',
      replace: 'void [evaluated, tokens, ms, chargedMs, start];',
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
      run: ['--repeats', '2', '--users', '10', '--limit', '12'],
    },
  ]),

  ...faultsIn('recomputation', 'src/systems/prefill/select-tokens-to-recompute.ts', [
    {
      name: 'twice the share is recomputed',
      find: 'Math.min(Math.round(share * countMemoryTokens(blocks)),',
      replace: 'Math.min(Math.round(2 * share * countMemoryTokens(blocks)),',
      run: ['--arms', 'rag,dki-random:.3'],
    },
    {
      name: 'half the share is recomputed',
      find: 'Math.min(Math.round(share * countMemoryTokens(blocks)),',
      replace: 'Math.min(Math.round(0.5 * share * countMemoryTokens(blocks)),',
      run: ['--arms', 'rag,dki-random:.3'],
    },
  ]),

  ...faultsIn('recomputation', 'src/systems/prefill/select-tokens-to-recompute.ts', [
    {
      name: 'link recomputes twice the tokens',
      find: 'Math.min(block.end, block.start + tokens)',
      replace: 'Math.min(block.end, block.start + 2 * tokens)',
      run: ['--arms', 'rag,dki-link:4'],
    },
    {
      name: 'the worst ranked blocks are recomputed',
      find: 'return later.toSorted((a, b) => a.rank - b.rank);',
      replace: 'return later.toSorted((a, b) => b.rank - a.rank);',
      run: ['--arms', 'rag,dki-ranked:.5'],
    },
    {
      name: 'the tokens of the lowest scores are recomputed',
      find: 'b.score - a.score ||',
      replace: 'a.score - b.score ||',
      run: ['--arms', 'rag,dki-informative:.3'],
    },
  ]),
  ...faultsIn('recomputation', 'src/systems/prefill/memory-edit.ts', [
    {
      name: 'a splice keeps the first token of the old value',
      find: 'lastExactCut(engine.capabilities, value.start)',
      replace: 'lastExactCut(engine.capabilities, value.start + 1)',
      run: false,
    },
    {
      name: 'an overwritten value keeps as many cells behind it as the new value has tokens',
      find: 'const behind = start + tokens.before;',
      replace: 'const behind = start + tokens.after;',
      run: false,
    },
    {
      name: 'the new value is evaluated behind the header alone',
      find: 'const front = kv.cut(prefix, 0, start);',
      replace: 'const front = kv.cut(prefix, start - 3, start);',
      run: false,
    },
  ]),
  ...faultsIn('recomputation', 'src/systems/prefill/joined-blocks-prefill.ts', [
    {
      name: 'ranks are places in the prompt',
      find: 'const ranks = parts.lines.map(({ memoryId }) => parts.ranked.indexOf(memoryId));',
      replace: 'const ranks = parts.lines.map((_, index) => index);',
      run: ['--arms', 'rag,dki-ranked:.5'],
    },
    {
      name: 'the account says that half as many were selected',
      find: 'selected: countTokens(recomputed),',
      replace: 'selected: Math.floor(countTokens(recomputed) / 2),',
      run: ['--arms', 'rag,dki-random:.3'],
    },
  ]),
  ...faultsIn('recomputation', 'src/systems/prefill/join-and-recompute.ts', [
    {
      name: 'recomputed cells are not written back',
      find: 'kv.replace(joined, again.cells, range.start);',
      replace: '',
      run: ['--arms', 'rag,dki-random:.3'],
    },
    {
      name: 'the last range is not recomputed',
      find: 'for (const range of recomputed) {',
      replace: 'for (const range of recomputed.slice(0, -1)) {',
      run: ['--arms', 'rag,dki-random:.3'],
    },
    {
      name: 'recomputed tokens are not counted',
      find: 'recomputedTokens += again.evaluatedTokens;',
      replace: '',
      run: ['--arms', 'rag,dki-random:.3'],
    },
  ]),

  ...faultsIn('retrieval', TAKE_USER_TURNS, [
    {
      name: 'golds are those of the next question',
      find: 'const { items } = this.#user;\n    for (let repeat',
      replace:
        'const items = this.#user.items.map((item, at, all) => ({ ...item, answer: all[(at + 1) % all.length]!.answer }));\n    for (let repeat',
    },
    {
      name: 'evidence is that of the next question',
      find: 'const { items } = this.#user;\n    for (let repeat',
      replace:
        'const items = this.#user.items.map((item, at, all) => ({ ...item, evidence: all[(at + 1) % all.length]!.evidence }));\n    for (let repeat',
    },
    {
      name: 'the last question of each user is left out',
      find: 'for (const item of items) {\n        const prepared',
      replace: 'for (const item of items.slice(0, -1)) {\n        const prepared',
    },
    {
      name: 'the gold stands in the query of the retriever',
      find: 'await keeper.retrieve(item.query, options);',
      replace: "await keeper.retrieve(`${item.query} ${item.answer ?? ''}`, options);",
    },
    {
      name: 'evidence is put in front of what was retrieved',
      find: 'const retrieved = { ...found, elapsedMs: performance.now() - start };',
      replace:
        'const isEvidence = ({ memoryId }: { memoryId: string }) => Number(item.evidence.includes(memoryId)); const retrieved = { ...found, memories: found.memories.toSorted((a, b) => isEvidence(b) - isEvidence(a)), elapsedMs: performance.now() - start };',
    },
    {
      name: 'failed turns are tried again',
      find: "const turn = await clock.time('turns', () => this.#answer(request, open, prepared, signal));\n      const { response }",
      replace:
        "const turn = await clock.time('turns', () => this.#answer(request, open, prepared, signal).catch(() => this.#answer(request, open, prepared, signal)));\n      const { response }",
      tests: ['test/model/planted-faults.test.ts'],
    },
  ]),
  ...faultsIn('retrieval', 'src/eval/run/plan/plan-users.ts', [
    {
      name: 'fewer questions are asked than planned',
      find: 'items: user.items.slice(0, items)',
      replace: 'items: user.items.slice(0, items === undefined ? items : items - 1)',
    },
  ]),
  ...faultsIn('retrieval', 'src/retrieval/memory-vector-index.ts', [
    {
      name: 'the least similar memories are kept',
      find: 'let requested = Math.min(k + 1, this.size);',
      replace:
        'const all = this.#index.search(vector, this.size); if (this.size > 0) return all.ids.map((row, at) => ({ memory: this.#rows[row]!, score: all.scores[at]! })).reverse().slice(0, k).reverse();\n    let requested = Math.min(k + 1, this.size);',
    },
    {
      name: 'the worst of the nearest stands first',
      find: '.sort((a, b) => b.score - a.score || a.row - b.row)\n      .slice(0, k)',
      replace: '.sort((a, b) => b.score - a.score || a.row - b.row)\n      .slice(0, k)\n      .reverse()',
    },
  ]),
  ...faultsIn('retrieval', 'src/models/embedding/embedding-service.ts', [
    {
      name: 'vectors have no signs',
      find: 'vector.map((value) => value / length);',
      replace: 'vector.map((value) => Math.abs(value / length));',
    },
  ]),
  ...faultsIn('retrieval', 'src/data/visible-memories.ts', [
    {
      name: 'memories of the future are seen',
      find: 'return user.memories.filter((memory) => Date.parse(memory.createdAt) <= now);',
      replace: 'return user.memories.filter(() => now > 0);',
      run: false,
    },
  ]),
  ...faultsIn('retrieval', WRITER, [
    {
      name: 'all that was retrieved is evidence',
      find: 'evidence: evidence.includes(memoryId),',
      replace: 'evidence: evidence.length > 0 && memoryId !== evidence[9],',
    },
  ]),

  ...faultsIn('metrics', OBSERVER, [
    {
      name: 'the probability of a gold is that of its first token',
      find: 'goldLogProbability: sum(logProbabilities),',
      replace: 'goldLogProbability: logProbabilities[0] ?? 0,',
    },
    {
      name: 'the first token of a gold is scored alone',
      find: 'const { logProbabilities } = score.gold;',
      replace: 'const logProbabilities = score.gold.logProbabilities.slice(0, 1);',
    },
  ]),
  ...faultsIn('metrics', SCORES, [
    {
      name: 'accepted answers are ignored',
      find: 'const golds = item.answer === null ? [] : [item.answer, ...item.acceptedAnswers];',
      replace: 'const golds = item.answer === null ? [] : [item.answer];',
    },
    {
      name: 'the gold is ignored where there are accepted answers',
      find: 'const golds = item.answer === null ? [] : [item.answer, ...item.acceptedAnswers];',
      replace:
        'const golds = item.answer === null ? [] : item.acceptedAnswers.length > 0 ? [...item.acceptedAnswers] : [item.answer];',
    },
    {
      name: 'an abstention is right on every question',
      find: 'const taskSuccess = locomo ?? abstention ?? texts[deciding];',
      replace:
        'const taskSuccess = isAbstention(answer, unknownAnswer, language) ? 1 : (locomo ?? abstention ?? texts[deciding]);',
    },
    {
      name: 'success is the mean of all metrics',
      find: 'const taskSuccess = locomo ?? abstention ?? texts[deciding];',
      replace:
        'const taskSuccess = locomo ?? abstention ?? (texts[deciding] === 1 || (texts.tokenF1 ?? 0) > 0.3 ? 1 : 0);',
    },
    {
      name: 'the rank of the evidence begins at 0',
      find: 'const ranks = evidence.map((id) => retrievedIds.indexOf(id) + 1);',
      replace: 'const ranks = evidence.map((id) => retrievedIds.indexOf(id));',
    },
  ]),
  ...faultsIn('metrics', 'src/eval/analysis/metrics/text-overlap.ts', [
    {
      name: 'exact match accepts what begins with a gold',
      find: 'golds.some((gold) => wordForm(gold, language, version) === form)',
      replace: 'golds.some((gold) => form.startsWith(wordForm(gold, language, version)))',
    },
    {
      name: 'an empty answer matches exactly',
      find: "const form = wordForm(answer, language, version);\n  return Number(form !== '' && golds.some(",
      replace: "const form = wordForm(answer, language, version);\n  return Number(form === '' || golds.some(",
    },
  ]),
  ...faultsIn('metrics', 'src/eval/analysis/metrics/built-in-metrics.ts', [
    {
      name: 'ln p of a gold is not divided by its tokens',
      find: 'return isScored ? goldLogProbability / goldTokens.length : null;',
      replace: 'return isScored ? goldLogProbability : null;',
      tests: ['src/eval/analysis/metrics/answers-with-known-scores.test.ts'],
    },
  ]),
  ...faultsIn('metrics', 'src/eval/analysis/metrics/contains.ts', [
    {
      name: 'contains accepts a denied gold',
      find: 'hits.every((span) => !isNegated(words, span, language)) ||',
      replace: 'hits.length > 0 ||',
    },
  ]),

  ...faultsIn('report', 'src/cli/bench.ts', [
    {
      name: 'bench exits with 0 though a check failed',
      find: "'failed'))) return exitCodes.checkFailed;",
      replace: "'failed'))) return exitCodes.ok;",
      run: false,
    },
    {
      name: 'undecided checks count as failed, and failed ones as none',
      find: "checks.some(({ status }) => status === 'failed')",
      replace: "checks.some(({ status }) => status === 'undecided')",
    },
  ]),
  ...faultsIn('report', 'src/report/verdict-sentences.ts', [
    {
      name: 'a and b are exchanged in the sentence of costs',
      find: 'const [own, other] = [formatNumber(means.a, 1), formatNumber(means.b, 1)];',
      replace: 'const [own, other] = [formatNumber(means.b, 1), formatNumber(means.a, 1)];',
      run: false,
      tests: REPORTS,
    },
    {
      name: 'the hit rate is that of misses',
      find: 'formatNumber(hitRate * 100, 0)',
      replace: 'formatNumber(100 - hitRate * 100, 0)',
      run: false,
      tests: REPORTS,
    },
    {
      name: 'the bounds of the break-even turn are exchanged',
      find: '[${orNever(low)}, ${orNever(high)}]`;',
      replace: '[${orNever(high)}, ${orNever(low)}]`;',
      run: false,
      tests: REPORTS,
    },
  ]),
  ...faultsIn('report', 'src/report/verdict-wording.ts', [
    {
      name: 'undecided arms are called kept',
      find: "if (verdict === 'kept') return",
      replace: "if (verdict === 'kept' || verdict === 'undecided') return",
      run: false,
      tests: REPORTS,
    },
    {
      name: 'losses and gains are exchanged',
      find: "${delta < 0 ? 'loses' : 'gains'}",
      replace: "${delta < 0 ? 'gains' : 'loses'}",
      run: false,
      tests: REPORTS,
    },
    {
      name: 'the bounds of a loss are exchanged',
      find: '{ ...difference, delta: -delta, low: -high, high: -low }',
      replace: '{ ...difference, delta: -delta, low: -low, high: -high }',
      run: false,
      tests: REPORTS,
    },
  ]),
  ...faultsIn('report', 'src/report/tables/arm-comparisons-tables.ts', [
    {
      name: 'wins and losses are exchanged in the tables',
      find: 'countColumn(key, key, (compared) => compared[key]));',
      replace:
        "countColumn(key, key, (compared) => compared[key === 'wins' ? 'losses' : key === 'losses' ? 'wins' : key]));",
      run: false,
      tests: REPORTS,
    },
  ]),
  ...faultsIn('report', 'src/report/topics/times.ts', [
    {
      name: 'hits and misses are exchanged in the table of times',
      find: "intervalColumn(`ttft${kind}`, 'TTFT (ms)', (arm) => arm[`cost${kind}`]?.ttftMs),",
      replace:
        "intervalColumn(`ttft${kind}`, 'TTFT (ms)', (arm) => arm[`cost${kind === 'Hit' ? 'Miss' : 'Hit'}`]?.ttftMs),",
      run: false,
      tests: REPORTS,
    },
  ]),
  ...faultsIn('report', 'src/report/tables/arm-results-table.ts', [
    {
      name: 'hits and misses are exchanged in table 1',
      find: "ownTurns('hits', 'hit'),",
      replace: "ownTurns('hits', 'miss'),",
      run: false,
      tests: REPORTS,
    },
  ]),
  ...faultsIn('report', 'src/report/figures/arm-encoding.ts', [
    {
      name: 'colours are reversed',
      find: "arms, marks.map(({ colour }) => colour), columns), // prettier-ignore\n    shape: channel('arm', arms, distinctLooks",
      replace:
        "arms, marks.map(({ colour }) => colour).reverse(), columns), // prettier-ignore\n    shape: channel('arm', arms, distinctLooks",
      run: false,
      tests: REPORTS,
    },
  ]),
  ...faultsIn('report', 'src/eval/analysis/summary/arm-results.ts', [
    {
      name: 'costs of hits and misses are exchanged in the results',
      find: '    costHit: meanCost(hits),\n    costMiss: meanCost(misses),',
      replace: '    costHit: meanCost(misses),\n    costMiss: meanCost(hits),',
      run: false,
      tests: ['test/reference/planted-analysis.test.ts', 'src/eval/analysis/analyse-run.test.ts'],
    },
  ]),
  ...faultsIn('report', 'src/eval/analysis/statistics/paired-contrast.ts', [
    {
      name: 'the planned contrast adds its two differences',
      find: 'const delta = first!.delta - second!.delta;',
      replace: 'const delta = first!.delta + second!.delta;',
      run: false,
      tests: ['test/reference/planted-contrast.test.ts'],
    },
  ]),
  ...faultsIn('report', 'src/eval/analysis/compare/model-contrasts.ts', [
    {
      name: 'the planned contrast of several models is not adjusted',
      find: 'holm(tested.map((one) => one.p!))[place]!',
      replace: 'tested[place]!.p!',
      run: false,
      tests: ['test/reference/planted-contrast.test.ts'],
    },
  ]),
  ...faultsIn('report', 'src/eval/analysis/statistics/paired-quality.ts', [
    {
      name: 'wins and losses are exchanged in the results',
      find: "    wins: better === 'higher' ? higher : lower,\n    losses: better === 'higher' ? lower : higher,",
      replace: "    wins: better === 'higher' ? lower : higher,\n    losses: better === 'higher' ? higher : lower,",
      run: false,
      tests: ['test/reference/planted-analysis.test.ts', 'src/eval/analysis/analyse-run.test.ts'],
    },
  ]),
  ...faultsIn('report', 'src/eval/analysis/summary/compare-arms.ts', [
    {
      name: 'the means of a and b are exchanged',
      find: 'a: mean(pairs.map(({ a }) => a)), b: mean(pairs.map(({ b }) => b))',
      replace: 'a: mean(pairs.map(({ b }) => b)), b: mean(pairs.map(({ a }) => a))',
      run: false,
      tests: ['test/reference/planted-analysis.test.ts', 'src/eval/analysis/analyse-run.test.ts'],
    },
  ]),

  ...faultsIn('servers', 'src/eval/run/judge/judge.ts', [
    {
      name: 'verdicts are kept across prompts of the judge',
      find: '[judgePrompt, query, asked.golds]',
      replace: '[query, asked.golds]',
      run: false,
      tests: JUDGES,
    },
    {
      name: 'verdicts are kept across models',
      find: '.update(JSON.stringify([model, ...about, answer]))',
      replace: ".update(JSON.stringify([model === '', ...about, answer]))",
      run: false,
      tests: JUDGES,
    },
    {
      name: 'the judge is not told all golds',
      find: "`[${asked.golds.map(quote).join(', ')}]`",
      replace: "`[${asked.golds.slice(0, 1).map(quote).join(', ')}]`",
      run: false,
      tests: JUDGES,
    },
  ]),
  ...faultsIn('servers', 'src/eval/run/judge/chat-completion.ts', [
    {
      name: 'the judge answers at a temperature',
      find: 'temperature: 0, max_tokens',
      replace: 'temperature: 0.7, max_tokens',
      run: false,
      tests: JUDGES,
    },
  ]),
  ...faultsIn('servers', 'src/engine/llama-server/slot.ts', [
    {
      name: 'a slot is used again without a look',
      find: 'if (reused < least) throw errors.changed(`slot ${this.id} has lost tokens: it reused ${reused} of ${least}`);',
      replace: 'void least;',
      run: false,
      tests: LLAMA,
    },
    {
      name: 'a first request may find the cache of others',
      find: 'cache_prompt: held > 0 }',
      replace: 'cache_prompt: true }',
      run: false,
      tests: LLAMA,
    },
    {
      name: 'what an empty slot found is not refused',
      find: 'if (held === 0 && reused > 0) {',
      replace: 'if (held < 0 && reused > 0) {',
      run: false,
      tests: LLAMA,
    },
    {
      name: 'llama-server samples at its own temperature',
      find: 'return { ...SAMPLING, temperature: 0, ...fields,',
      replace: 'return { ...SAMPLING, ...fields, temperature: 0.8,',
      run: false,
      tests: LLAMA,
    },
  ]),
  ...faultsIn('servers', 'src/engine/llama-server/llama-server-session.ts', [
    {
      name: 'llama-server is told no seed',
      find: 'const fields = { n_predict: maxTokens, temperature, seed };',
      replace: 'void seed; const fields = { n_predict: maxTokens, temperature };',
      run: false,
      tests: LLAMA,
    },
  ]),
  ...faultsIn('servers', 'src/engine/openai/v1-generation.ts', [
    {
      name: 'a server with /v1 samples at a temperature',
      find: '    temperature,\n    seed,\n',
      replace: '    temperature: temperature + 0.7,\n    seed,\n',
      run: false,
      tests: OPENAI,
    },
    {
      name: 'a server with /v1 is told no seed',
      find: '    temperature,\n    seed,\n',
      replace: '    temperature: temperature + 0 * seed,\n',
      run: false,
      tests: OPENAI,
    },
    {
      name: 'a server with /v1 is told no stop',
      find: '{ stop: stopTexts, include_stop_str_in_output: true }',
      replace: '{}',
      run: false,
      tests: OPENAI,
    },
  ]),
  ...faultsIn('servers', 'src/engine/openai/prompt-sender.ts', [
    {
      name: 'the cache is not off for a first request',
      find: 'const named = isFirst ? { ...name.fields, ...name.firstFields } : name.fields;',
      replace: 'void isFirst; const named = name.fields;',
      run: false,
      tests: OPENAI,
    },
  ]),
  ...faultsIn('servers', 'src/engine/openai/openai-session.ts', [
    {
      name: 'what a new name found is not refused',
      find: 'if (this.#isFresh && reused > 0)',
      replace: 'if (this.#isFresh && reused < 0)',
      run: false,
      tests: OPENAI,
    },
  ]),
  ...faultsIn('servers', 'src/store/queue/queue-writer.ts', [
    {
      name: 'results of a worker that lost its user are stored',
      find: 'if (!(await this.#jobs.complete(claim, transaction))) {',
      replace: 'if (!(await this.#jobs.complete(claim, transaction)) && planId === worker) {',
      run: false,
      tests: QUEUES,
    },
    {
      name: 'results of another plan are stored',
      find: 'WHERE id = $1 AND plan_id = $2`, [run, planId]',
      replace: 'WHERE id = $1`, [run]',
      run: false,
      tests: QUEUES,
    },
  ]),
];
