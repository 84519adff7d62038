import { BenchError } from '../../../base/bench-error.ts';
import { routeByKeyword } from './route-by-keyword.ts';
import { assessRouting, describeAbility, routeByModel, type RoutingAbility } from './route-by-model.ts';
import type { PreRetrievalAction, PreRetrievalConfig } from './pre-retrieval-config.ts';
import type { QueryModel, QueryRecord, QueryTools } from './pre-retrieval-types.ts';
import { decomposeQuestion, expandQuestion, extractKeywords, MAX_PARTS } from './rewrite-question-by-rules.ts';
import { rewriteQuestion, shortenQuestion } from './rewrite-question-by-rules.ts';
import { fitRouteClassifier, type RouteClassifier } from './route-classifier.ts';

/** A question written by a model may have MAX_GROWTH times the characters of the original, plus SLACK. */
const MAX_GROWTH = 2;
const SLACK = 40;

/**
 * Prepares questions for the search: rewrites, splits and embeds them, and adds hints. It reads only the question, no store,
 * memory or service; a lint rule enforces that for this folder. A language model is used only after it has proved its ability
 * on labelled questions.
 */
export class PreRetrieval {
  readonly #config: PreRetrievalConfig;
  readonly #tools: QueryTools;
  #classifier: RouteClassifier | undefined;
  #ability: Promise<RoutingAbility> | undefined;

  constructor(config: PreRetrievalConfig, tools: QueryTools) {
    this.#config = config;
    this.#tools = tools;
  }

  /** Applies all configured actions in order; an invalid question ends them. */
  async execute(record: QueryRecord): Promise<QueryRecord> {
    let current = record;
    for (const action of this.#config.action) {
      if (current.invalid !== undefined) break;
      current = await this.#act(action, current);
    }
    return current;
  }

  async #act(action: PreRetrievalAction, record: QueryRecord): Promise<QueryRecord> {
    switch (action) {
      case 'none':
        return record;
      case 'validate':
        return changed(record, validateQuestion(record.question, this.#config));
      case 'embedding':
        return this.#embed(record, {});
      case 'multi_embed':
        return this.#embed(record, {
          keywords: shortenQuestion(record.question, this.#config.max_keywords),
          rewritten: rewriteQuestion(record.question),
          expanded: expandQuestion(record.question),
        });
      case 'optimize':
        return this.#optimize(record);
      case 'decompose':
        return this.#decompose(record);
      case 'route':
        return this.#route(record);
    }
  }

  async #optimize(record: QueryRecord): Promise<QueryRecord> {
    const { optimize_type, max_keywords, instruction, rewrite_strategy } = this.#config;
    const { question } = record;
    const rules = {
      keyword_extract: shortenQuestion(question, max_keywords),
      expand: expandQuestion(question),
      instruction: instruction + question,
      rewrite: rewriteQuestion(question),
    };
    const byRule = changed(record, { question: rules[optimize_type] });
    if (optimize_type !== 'rewrite' || rewrite_strategy === 'rule') return byRule;
    return this.#byModel(byRule, 'write', async (model) => {
      const task = 'Rewrite the question in few plain words.';
      const written = await write(model, question, { task, lead: 'Rewritten:', separator: '\n' });
      return typeof written === 'string' ? written : changed(record, { question: written[0]! });
    });
  }

  async #decompose(record: QueryRecord): Promise<QueryRecord> {
    const { question } = record;
    const byRule = withParts(record, decomposeQuestion(question));
    if (this.#config.decompose_strategy === 'rule') return byRule;
    return this.#byModel(byRule, 'write', async (model) => {
      const task = 'Split the question into simple questions, separated by |.';
      const written = await write(model, question, { task, lead: 'Simple questions:', separator: '|' });
      return typeof written === 'string' ? written : withParts(record, written);
    });
  }

  /** Adds hints chosen by the original question. */
  async #route(record: QueryRecord): Promise<QueryRecord> {
    const question = record.original_question ?? record.question;
    const { route_strategy, keyword_rules } = this.#config;
    if (route_strategy === 'classifier') {
      this.#classifier ??= fitRouteClassifier(this.#tools.examples);
      return this.#withStrategy(record, this.#classifier.classify(question).strategy);
    }
    if (route_strategy === 'llm') {
      const labels = [...new Set(this.#tools.probes.map(({ strategy }) => strategy))];
      return this.#byModel(this.#withStrategy(record), 'route', async (model) =>
        this.#withStrategy(record, await routeByModel(model, question, labels)),
      );
    }
    const { strategies, params } = routeByKeyword(question, keyword_rules);
    if (strategies.length === 0) return this.#withStrategy(record);
    return { ...record, retrieval_hints: { strategies, route_strategy, params } };
  }

  /**
   * Lets the model work on a record. Returns it as prepared by rule, with the reason, if the model has not proved its ability, if
   * `work` gives a reason, or if a prompt exceeds the model's window.
   */
  async #byModel(
    byRule: QueryRecord,
    purpose: 'route' | 'write',
    work: (model: QueryModel) => Promise<QueryRecord | string>,
  ): Promise<QueryRecord> {
    const { model, probes } = this.#tools;
    if (model === undefined) return withFallback(byRule, `there is no language model to ${purpose} questions`);
    try {
      const ability = await (this.#ability ??= assessRouting(model, probes));
      const done = ability.able ? await work(model) : describeAbility(model.name, ability);
      return typeof done === 'string' ? withFallback(byRule, done) : done;
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'context-overflow') throw error;
      return withFallback(byRule, `${model.name} cannot ${purpose} questions: ${error.message}`);
    }
  }

  /** Adds a strategy as hint, with its parameters from the keyword rules, whatever method chose it. */
  #withStrategy(record: QueryRecord, strategy = this.#config.default_strategy): QueryRecord {
    const { route_strategy, keyword_rules } = this.#config;
    const params = keyword_rules.find((rule) => rule.strategy === strategy)?.params ?? {};
    return { ...record, retrieval_hints: { strategies: [strategy], route_strategy, params } };
  }

  /** Embeds the question, its other wordings by name, each text once, and its parts. */
  async #embed(record: QueryRecord, wordings: Readonly<Record<string, string>>): Promise<QueryRecord> {
    const { question, sub_questions = [] } = record;
    const texts = [question, ...Object.values(wordings)];
    const others = [
      ...Object.entries(wordings).filter(([, text], index) => texts.indexOf(text) === index + 1),
      ...sub_questions.map((part, index) => [`part ${index + 1}`, part] as const),
    ];
    const [query_embedding, ...vectors] = await this.#tools.embed([question, ...others.map(([, text]) => text)]);
    const query_embeddings = Object.fromEntries(others.map(([name], index) => [name, vectors[index]!]));
    return { ...record, query_embedding: query_embedding!, ...(vectors.length === 0 ? {} : { query_embeddings }) };
  }
}

/**
 * Lets the model write a line of texts. Returns a reason instead if a text is far longer than the question or shares no keyword with
 * it.
 */
async function write(
  model: QueryModel,
  question: string,
  { task, lead, separator }: Readonly<Record<'task' | 'lead' | 'separator', string>>,
) {
  const line = await model.writeLine(`${task}\nQuestion: ${question.replaceAll('\n', ' ')}\n${lead}`);
  const parts = line.split(separator, MAX_PARTS).map((text) => text.trim());
  const texts = parts.filter((text) => text !== '');
  const isUsable = texts.length > 0 && texts.every((text) => isFaithful(question, text));
  return isUsable ? texts : `${model.name} wrote a different question`;
}

/** True for a text of limited length that shares a keyword with the question. */
function isFaithful(question: string, text: string): boolean {
  if (text.length > MAX_GROWTH * question.length + SLACK) return false;
  const wanted = extractKeywords(question);
  const written = new Set(extractKeywords(text));
  return wanted.length === 0 || wanted.some((word) => written.has(word));
}

function withParts(record: QueryRecord, parts: readonly string[]): QueryRecord {
  return parts.length < 2 && parts[0] === record.question ? record : { ...record, sub_questions: parts };
}

function withFallback(record: QueryRecord, reason: string): QueryRecord {
  return { ...record, fallbacks: [...(record.fallbacks ?? []), reason] };
}

/** Changes a record and keeps the original question. */
function changed(record: QueryRecord, change: { readonly question: string; readonly invalid?: string }): QueryRecord {
  if (change.question === record.question) return { ...record, ...change };
  return { ...record, ...change, original_question: record.original_question ?? record.question };
}

/** Removes control characters and redundant white space; `invalid` is the reason why a question is refused. */
export function validateQuestion(
  question: string,
  { min_length: least, max_length: most }: Pick<PreRetrievalConfig, 'min_length' | 'max_length'>,
): { readonly question: string; readonly invalid?: string } {
  // Control characters, and unpaired surrogates.
  const clean = question
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  const length = [...clean].length;
  if (length > most) return { question: clean, invalid: `the question has ${length} characters, ${most} are allowed` };
  if (length >= least) return { question: clean };
  const invalid = length === 0 ? 'the question is empty' : `the question has ${length} characters, ${least} are needed`;
  return { question: clean, invalid };
}
