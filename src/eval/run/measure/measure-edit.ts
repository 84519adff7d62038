import { BenchError } from '../../../base/bench-error.ts';
import { type DatasetItem, type DatasetMemory, type DatasetUser, resolveUserLanguage } from '../../../data/dataset.ts';
import { visibleMemories } from '../../../data/visible-memories.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { meterDifference } from '../../../engine/token-meter.ts';
import { kvOperations } from '../../../kv/kv-operations.ts';
import type { MemorySearchResult, Retriever } from '../../../retrieval/retriever.ts';
import { type EditMeasurement, editWays } from '../../../store/records/suite-measurements.ts';
import { answerLimits } from '../../../systems/answer-turn.ts';
import { applyEdit, findValue, type MemoryEdit, storeMemories } from '../../../systems/prefill/memory-edit.ts';
import { buildPrompt, type BuiltPrompt, type PromptRules, turnTexts } from '../../../systems/prompt/build-prompt.ts';
import { openPromptForm } from '../../../systems/prompt/chat-form.ts';
import { chooseAnswerPrefix, oneLine, type PromptForm } from '../../../systems/prompt/prompt-form.ts';
import { PromptTokenizer } from '../../../systems/prompt/prompt-tokenizer.ts';
import { metricsVersion } from '../../analysis/metrics/metrics-version.ts';
import { scoreTurn } from '../../analysis/metrics/score-turn.ts';
import { itemQuestion, memoryEntry } from '../data-to-system-input.ts';
import { drawUsers } from '../plan/plan-users.ts';
import type { MeasureContext } from '../suite.ts';
import { promptRules } from '../system-parts-from-options.ts';

/** A question for a value that a later memory replaced. */
interface EditedQuestion {
  readonly user: DatasetUser;
  readonly item: DatasetItem & { readonly answer: string };
  /** The memory that states the old value, once. */
  readonly old: DatasetMemory;
  readonly oldValue: string;
  /** The later memory: it is never retrieved, but appended as the correction. */
  readonly correction: DatasetMemory;
}

/** What all questions of a run share. */
interface EditRun {
  readonly context: MeasureContext;
  readonly engine: Engine;
  readonly session: EngineSession;
  readonly retriever: Retriever;
  readonly form: PromptForm;
  readonly rules: PromptRules;
}

/**
 * Measures answers after a memory changed while its old KV is stored, and the tokens that each way of updating evaluates.
 * In the retrieved memories of a question the old value is exchanged for the new one, in the old memory's own words. Each
 * question is stored when it is answered; those that an interrupted run stored are not answered again.
 * @throws BenchError `bad-data` if no question asks for a replaced value, `context-overflow` if a prompt does not hold its memories
 */
export async function measureEdit(context: MeasureContext): Promise<readonly EditMeasurement[]> {
  const { config, datasets, signal } = context;
  const { model, contextTokens, threads } = config;
  const parts = datasets.map(({ part }) => ({ ...part, users: part.users.map(withEditedItems) }));
  if (parts.every(({ users }) => users.every(({ items }) => items.length === 0))) {
    const message = `${parts.map(({ name }) => name).join(', ')}: no question asks for a value that a later memory replaces`;
    const hint = 'choose data with such questions, such as --dataset facts-en-2,facts-zh-2';
    throw new BenchError('bad-data', message, hint);
  }
  const drawn = new Set(drawUsers({ parts }, config).flatMap(({ items }) => items.map(({ itemId }) => itemId)));
  const measured = [...(context.measured?.edit ?? [])];
  const known = new Set(measured.map(({ itemId }) => itemId));
  await using engine = await context.engines.open({ model, contextTokens, threads });
  await using session = await engine.openSession('edit');
  const rules = { ...promptRules(config), memoryShare: 1, windowTokens: engine.info.contextTokens };
  const form = await openPromptForm(rules.template, engine);
  const retriever = await context.openRetriever(config.retriever);
  try {
    const run: EditRun = { context, engine, session, retriever, form, rules };
    for (const { name, users, declared } of parts) {
      const keepsText = config.text !== false && declared.texts !== 'withheld';
      for (const user of users) {
        const items = user.items.filter(({ itemId }) => drawn.has(itemId) && !known.has(itemId));
        if (items.length === 0) continue;
        await retriever.addMemories(user.memories.map((memory) => ({ ...memoryEntry(memory), userId: user.userId })));
        for (const item of items) {
          signal.throwIfAborted();
          const answers = await answerEdited(run, editedQuestion(user, item)!);
          const kept = keepsText ? answers.answers : answers.answers.map(({ text: _, ...rest }) => rest);
          measured.push({ dataset: name, itemId: item.itemId, userId: user.userId, ...answers, answers: kept });
          await context.save({ edit: measured });
          context.onStep(measured.length, drawn.size);
        }
        await retriever.reset();
      }
    }
  } finally {
    await retriever.close();
  }
  return measured;
}

function withEditedItems(user: DatasetUser): DatasetUser {
  return { ...user, items: user.items.filter((item) => editedQuestion(user, item) !== undefined) };
}

/** Undefined unless one memory answers the question, and an earlier one that it replaces states one of the old values once. */
function editedQuestion(user: DatasetUser, item: DatasetItem): EditedQuestion | undefined {
  const { answer, evidence, superseded } = item;
  const correction = user.memories.find(({ memoryId }) => memoryId === evidence[0]);
  const old = user.memories.find(({ memoryId }) => memoryId === correction?.supersedes);
  if (answer === null || evidence.length !== 1 || correction === undefined || old === undefined) return undefined;
  const oldValue = superseded.find((value) => oneLine(value) === value && old.content.split(value).length === 2);
  return oldValue === undefined ? undefined : { user, item: { ...item, answer }, old, oldValue, correction };
}

/** The best retrieved memories that are not the correction, with the old one among them. */
async function retrieveOld({ context, retriever }: EditRun, { user, item, old, correction }: EditedQuestion) {
  const { topK } = context.config;
  const { userId, memories } = user;
  const { query, askedAt, history, passages } = item;
  const options = { userId, topK: memories.length, threshold: -1, now: new Date(askedAt), history, passages };
  const visible = new Set(visibleMemories(user, item).map(({ memoryId }) => memoryId));
  visible.delete(correction.memoryId);
  const { memories: ranked } = await retriever.retrieve(query, options);
  const best = ranked.filter(({ memoryId }) => visible.has(memoryId)).slice(0, topK);
  if (best.some(({ memoryId }) => memoryId === old.memoryId)) return best;
  return [...best.slice(0, topK - 1), { ...memoryEntry(old), score: 0 }];
}

/** The prompts of a question: with the old value, with the new one in its place, and with the correction behind the old ones. */
async function editPrompts(run: EditRun, question: EditedQuestion) {
  const { engine, form, rules } = run;
  const { user, item, old, oldValue, correction } = question;
  const asked = itemQuestion(item, user);
  const answerPrefix = chooseAnswerPrefix(rules.answerPrefix!, asked.answerPrefix, asked);
  const frame = { query: item.query, history: item.history, ...turnTexts(asked, rules), answerPrefix };
  const tokenizer = new PromptTokenizer(engine);
  const build = async (memories: readonly MemorySearchResult[], placement = rules.placement): Promise<BuiltPrompt> => {
    const prompt = await buildPrompt({ ...frame, memories }, { ...rules, placement }, tokenizer, form);
    if (prompt.memories.length === memories.length) return prompt;
    const message = `question ${item.itemId}: its ${memories.length} memories do not fit into the window`;
    throw new BenchError('context-overflow', message, 'lower --top-k, or raise --context-tokens');
  };
  const memories = await retrieveOld(run, question);
  const before = await build(memories);
  const changed = memories.map((memory): MemorySearchResult => {
    if (memory.memoryId !== old.memoryId) return memory;
    return { ...memory, content: memory.content.replace(oldValue, () => item.answer) };
  });
  const after = await build(changed);
  const corrected = await build([...before.memories, { ...memoryEntry(correction), score: 0 }], 'rank');
  const { memoryId } = old;
  const value = await findValue(engine, { memoryId, before, after }, oldValue);
  const edit: MemoryEdit = { memoryId, before, after, corrected, value };
  return { edit, answerPrefix };
}

/** Answers a question in every way. */
async function answerEdited(run: EditRun, question: EditedQuestion) {
  const { engine, session, form, context } = run;
  const { signal } = context;
  const { edit, answerPrefix } = await editPrompts(run, question);
  const { before, corrected, value } = edit;
  const storing = { engine, session, kv: kvOperations, signal };
  const stored = await storeMemories(storing, before);
  const limits = answerLimits(form, before.info.budget.reserveTokens, { answerPrefix });
  const answers: EditMeasurement['answers'][number][] = [];
  let rebuilt = '';
  for (const way of editWays) {
    const meter = await session.meter();
    const rest = await applyEdit(way, storing, stored, edit);
    const { text, tokens } = await session.generate(rest, limits, { signal });
    const { evaluated } = meterDifference(await session.meter(), meter);
    if (way === 'rebuild') rebuilt = tokens.join();
    const sameAsRebuilt = tokens.join() === rebuilt;
    answers.push({ way, says: outcome(text, question, corrected), evaluated, sameAsRebuilt, text });
  }
  const behind = before.prefixTokens - value.start - value.before;
  return { value: { before: value.before, after: value.after, behind }, answers };
}

/** Whether an answer states the new value and not the old one, by `contains`, or the other way round. */
function outcome(
  answer: string,
  { user, item, old, correction }: EditedQuestion,
  { memories }: BuiltPrompt,
): EditMeasurement['answers'][number]['says'] {
  const ids = memories.map(({ memoryId }) => memoryId);
  const shown = user.memories.filter(({ memoryId }) => ids.includes(memoryId));
  const turn = { answer, storedIds: ids, retrievedIds: ids, keptIds: ids, shown };
  const states = (value: string, acceptedAnswers: readonly string[], superseded: readonly string[]): boolean => {
    const evidence = [old.memoryId, correction.memoryId];
    const scored = { ...item, answer: value, acceptedAnswers, superseded, evidence };
    const rule = { metric: 'contains', version: metricsVersion };
    return scoreTurn(scored, turn, resolveUserLanguage(item.language, user.languageProfile), rule).contains === 1;
  };
  const { answer: gold, acceptedAnswers, superseded } = item;
  if (states(gold, acceptedAnswers, superseded)) return 'new';
  return states(superseded[0]!, superseded.slice(1), [gold, ...acceptedAnswers]) ? 'old' : 'neither';
}
