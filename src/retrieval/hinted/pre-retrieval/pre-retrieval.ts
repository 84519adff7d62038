import { decomposeQuestion } from './decompose-question.ts';
import { extractKeywords, expandQuestion, instructQuestion, rewriteQuestion } from './optimize-question.ts';
import type { PreRetrievalAction, PreRetrievalConfig } from './pre-retrieval-config.ts';
import { fellBack, type QueryRecord, type QueryTools } from './query-record.ts';
import { QueryWriter } from './query-writer.ts';
import { QuestionRouter } from './question-router.ts';

/**
 * Prepares questions: wording, parts, vectors, and hints for the search. It reads the question only, no store, memory or
 * service; a lint rule enforces that for its folder.
 */
export class PreRetrieval {
  readonly #config: PreRetrievalConfig;
  readonly #tools: QueryTools;
  readonly #router: QuestionRouter;
  readonly #writer: QueryWriter;

  constructor(config: PreRetrievalConfig, tools: QueryTools) {
    this.#config = config;
    this.#tools = tools;
    this.#router = new QuestionRouter(config, tools);
    this.#writer = new QueryWriter(tools.model, () => this.#router.ability());
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
        return this.#embed(record, partsOf(record));
      case 'multi_embed':
        return this.#embed(record, { ...this.#aspects(record.question), ...partsOf(record) });
      case 'optimize':
        return this.#optimize(record);
      case 'decompose':
        return this.#decompose(record);
      case 'route':
        return this.#router.route(record);
    }
  }

  async #optimize(record: QueryRecord): Promise<QueryRecord> {
    const { optimize_type, max_keywords, instruction, rewrite_strategy } = this.#config;
    const { question } = record;
    switch (optimize_type) {
      case 'keyword_extract':
        return changed(record, { question: extractKeywords(question, max_keywords) });
      case 'expand':
        return changed(record, { question: expandQuestion(question) });
      case 'instruction':
        return changed(record, { question: instructQuestion(question, instruction) });
      case 'rewrite': {
        const byRule = rewriteQuestion(question);
        if (rewrite_strategy === 'rule') return changed(record, { question: byRule });
        const { texts, fallback } = await this.#writer.rewrite(question);
        const written = changed(record, { question: texts[0] ?? byRule });
        return fallback === undefined ? written : fellBack(written, fallback);
      }
    }
  }

  async #decompose(record: QueryRecord): Promise<QueryRecord> {
    const byRule = decomposeQuestion(record.question);
    if (this.#config.decompose_strategy === 'rule') return withParts(record, byRule);
    const { texts, fallback } = await this.#writer.decompose(record.question);
    const written = withParts(record, texts.length === 0 ? byRule : texts);
    return fallback === undefined ? written : fellBack(written, fallback);
  }

  /** Rephrases the question in several ways, without duplicates. */
  #aspects(question: string): Readonly<Record<string, string>> {
    const keywords = extractKeywords(question, this.#config.max_keywords);
    const aspects = { keywords, rewritten: rewriteQuestion(question), expanded: expandQuestion(question) };
    const seen = new Set([question]);
    return Object.fromEntries(
      Object.entries(aspects).filter(([, text]) => {
        const isNew = !seen.has(text);
        seen.add(text);
        return isNew;
      }),
    );
  }

  async #embed(record: QueryRecord, others: Readonly<Record<string, string>>): Promise<QueryRecord> {
    const [query_embedding, ...vectors] = await this.#tools.embed([record.question, ...Object.values(others)]);
    const query_embeddings = Object.fromEntries(Object.keys(others).map((name, index) => [name, vectors[index]!]));
    return { ...record, query_embedding: query_embedding!, ...(vectors.length === 0 ? {} : { query_embeddings }) };
  }
}

function partsOf({ sub_questions = [] }: QueryRecord): Readonly<Record<string, string>> {
  return Object.fromEntries(sub_questions.map((part, index) => [`part ${index + 1}`, part]));
}

function withParts(record: QueryRecord, parts: readonly string[]): QueryRecord {
  return parts.length < 2 && parts[0] === record.question ? record : { ...record, sub_questions: parts };
}

/** Changes a record and keeps the original question. */
function changed(record: QueryRecord, change: { readonly question: string; readonly invalid?: string }): QueryRecord {
  if (change.question === record.question) return { ...record, ...change };
  return { ...record, ...change, original_question: record.original_question ?? record.question };
}

/** Length limits of a question, in code points. */
export interface QuestionLimits {
  readonly min_length: number;
  readonly max_length: number;
}

/** Control characters, and unpaired surrogates. */
const control = /[\p{Cc}\p{Cs}]+/gu;

/** Removes control characters and redundant white space; `invalid` is the reason why a question is refused. */
export function validateQuestion(
  question: string,
  { min_length: least, max_length: most }: QuestionLimits,
): { readonly question: string; readonly invalid?: string } {
  const clean = question.normalize('NFC').replace(control, ' ').replace(/\s+/gu, ' ').trim();
  const length = [...clean].length;
  if (length < least) {
    return {
      question: clean,
      invalid: length === 0 ? 'the question is empty' : `the question has ${length} characters, ${least} are needed`,
    };
  }
  if (length > most) return { question: clean, invalid: `the question has ${length} characters, ${most} are allowed` };
  return { question: clean };
}
