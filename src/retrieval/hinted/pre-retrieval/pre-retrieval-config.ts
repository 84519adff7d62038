import { z } from 'zod';
import { BenchError } from '../../../base/bench-error.ts';
import { routeStrategies } from './pre-retrieval-types.ts';

const action = z.enum(['none', 'embedding', 'optimize', 'multi_embed', 'decompose', 'route', 'validate']);
const writtenBy = z.enum(['rule', 'llm']);
const label = z.string().min(1);

/** Parameters of a search that are known; others are ignored. */
export const searchParams = z.looseObject({
  /** Links to follow from a hit. Default 1. */
  search_depth: z.int().min(0).max(5).optional(),
  expand_links: z.boolean().optional(),
  time_range: z.literal('recent').optional(),
  /** Default true. */
  include_persona: z.boolean().optional(),
  tier_preference: z.enum(['stm', 'mtm', 'ltm', 'persona']).optional(),
});

const keywordRule = z.strictObject({
  keywords: z.array(z.string().min(1)).min(1),
  strategy: label,
  params: searchParams.default({}),
});
export type KeywordRule = z.output<typeof keywordRule>;

/** Default rules, in English and Chinese. */
export const defaultKeywordRules: KeywordRule[] = [
  {
    keywords: ['remember', 'recall', 'what did', '记得', '回忆'],
    strategy: 'deep_search',
    params: { search_depth: 3, expand_links: true },
  },
  {
    keywords: ['yesterday', 'recent', 'just now', '昨天', '最近', '刚才'],
    strategy: 'temporal_search',
    params: { time_range: 'recent' },
  },
  {
    keywords: ['personality', 'traits', 'character', '性格', '特点'],
    strategy: 'persona_search',
    params: { include_persona: true },
  },
];

const schema = z.strictObject({
  /** One action, or several to be done in order. */
  action: z
    .union([action, z.array(action)])
    .transform((given) => (typeof given === 'string' ? [given] : given))
    .default(['validate', 'optimize', 'decompose', 'route', 'embedding']),
  optimize_type: z.enum(['keyword_extract', 'expand', 'rewrite', 'instruction']).default('rewrite'),
  max_keywords: z.int().min(1).default(10),
  /** Prefix of the question for `optimize_type: instruction`. */
  instruction: z.string().default('Retrieve memories that help answer the question: '),
  rewrite_strategy: writtenBy.default('rule'),
  decompose_strategy: writtenBy.default('rule'),
  /** Length limits of a valid question, in code points. */
  min_length: z.int().min(0).default(1),
  max_length: z.int().min(1).default(4_000),
  route_strategy: z.enum(routeStrategies).default('keyword'),
  keyword_rules: z.array(keywordRule).default(() => structuredClone(defaultKeywordRules)),
  default_strategy: label.default('semantic_search'),
});

/** Configuration for preparing questions: `operators.pre_retrieval` of the design document. */
export type PreRetrievalConfig = Readonly<z.output<typeof schema>>;

/** A step that prepares a question before the search. */
export type PreRetrievalAction = z.output<typeof action>;

export type ReadPreRetrievalConfig = ReturnType<typeof readPreRetrievalConfig>;

/**
 * Reads `operators.pre_retrieval`, or its contents. Old names are accepted with a warning.
 * @param place the file, for messages
 * @returns also warnings about old names, one line each
 * @throws BenchError `bad-option` that names place and field
 */
export function readPreRetrievalConfig(value: unknown, place: string) {
  const warnings: string[] = [];
  const parsed = schema.safeParse(withNewNames(unwrapped(value), place, warnings));
  if (parsed.success) return { config: parsed.data, warnings };
  const { path, message } = parsed.error.issues[0]!;
  const field = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const hint = `the fields are ${Object.keys(schema.shape).join(', ')}`;
  throw new BenchError('bad-option', `${place}: pre_retrieval${field}: ${message}`, hint);
}

/** True if preparing questions needs a language model. */
export function usesLanguageModel({
  action,
  route_strategy,
  optimize_type,
  ...strategies
}: PreRetrievalConfig): boolean {
  return (
    (action.includes('route') && route_strategy === 'llm') ||
    (action.includes('optimize') && optimize_type === 'rewrite' && strategies.rewrite_strategy === 'llm') ||
    (action.includes('decompose') && strategies.decompose_strategy === 'llm')
  );
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unwrapped(value: unknown): unknown {
  return ['operators', 'pre_retrieval'].reduce(
    (inner, key) => (isFields(inner) && Object.keys(inner).join() === key ? inner[key] : inner),
    value,
  );
}

/**
 * Converts old names: `keyword_rules[].route` is now `strategy`, `retrieval_routes` is `default_strategy`.
 * @throws BenchError `bad-option` if an old and its new name are both given
 */
function withNewNames(value: unknown, place: string, warnings: string[]): unknown {
  const rename = (fields: Fields, old: string, name: string, prefix: string): Fields => {
    const { [old]: given, ...rest } = fields;
    if (given === undefined) return fields;
    if (rest[name] !== undefined) {
      const message = `${place}: ${prefix}${old} and ${name} are both given`;
      throw new BenchError('bad-option', message, `remove ${old}, the old name of ${name}`);
    }
    const strategy: unknown = Array.isArray(given) ? given[0] : given;
    const example = strategy === undefined ? '"…"' : JSON.stringify(strategy);
    warnings.push(`${place}: ${prefix}${old} is now called ${name}: write "${name}": ${example}`);
    return { ...rest, [name]: strategy };
  };
  if (!isFields(value)) return value;
  const renamed = rename(value, 'retrieval_routes', 'default_strategy', '');
  const rules = renamed['keyword_rules'];
  if (!Array.isArray(rules)) return renamed;
  const keyword_rules = rules.map((rule: unknown, index): unknown =>
    isFields(rule) ? rename(rule, 'route', 'strategy', `keyword_rules[${index}].`) : rule,
  );
  return { ...renamed, keyword_rules };
}
