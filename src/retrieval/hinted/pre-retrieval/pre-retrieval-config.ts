import { z } from 'zod';
import { BenchError } from '../../../base/bench-error.ts';
import { defaultKeywordRules } from './keyword-route.ts';
import { withoutOldNames } from './old-names.ts';
import { optimizeTypes } from './optimize-question.ts';
import { routeStrategies } from './query-record.ts';

/** Actions that prepare a question before the search. */
export const preRetrievalActions = [
  'none',
  'embedding',
  'optimize',
  'multi_embed',
  'decompose',
  'route',
  'validate',
] as const;
export type PreRetrievalAction = (typeof preRetrievalActions)[number];

const action = z.enum(preRetrievalActions);
const writtenBy = z.enum(['rule', 'llm']);
const label = z.string().min(1);

const schema = z.strictObject({
  /** One, or several in their order. */
  action: z
    .union([action, z.array(action)])
    .transform((given) => (typeof given === 'string' ? [given] : given))
    .default(['validate', 'optimize', 'decompose', 'route', 'embedding']),
  optimize_type: z.enum(optimizeTypes).default('rewrite'),
  max_keywords: z.int().min(1).default(10),
  /** Prefix of the question for `optimize_type: instruction`. */
  instruction: z.string().default('Retrieve memories that help answer the question: '),
  rewrite_strategy: writtenBy.default('rule'),
  decompose_strategy: writtenBy.default('rule'),
  /** Length limits of a valid question, in code points. */
  min_length: z.int().min(0).default(1),
  max_length: z.int().min(1).default(4_000),
  route_strategy: z.enum(routeStrategies).default('keyword'),
  keyword_rules: z
    .array(
      z.strictObject({
        keywords: z.array(z.string().min(1)).min(1),
        strategy: label,
        params: z.record(z.string(), z.unknown()).default({}),
      }),
    )
    .default(() => structuredClone(defaultKeywordRules) as never),
  default_strategy: label.default('semantic_search'),
});

/** Configuration of the preparation of questions: `operators.pre_retrieval` of the source document. */
export type PreRetrievalConfig = Readonly<z.output<typeof schema>>;

/** A configuration and the warnings from reading it. */
export interface ReadPreRetrievalConfig {
  readonly config: PreRetrievalConfig;
  /** Old names that are still accepted, with their new names; one line each. */
  readonly warnings: readonly string[];
}

/**
 * Reads `operators.pre_retrieval`, or its contents. Old names are accepted with a warning.
 * @param place the file, for messages
 * @throws BenchError `bad-option` that names place and field
 */
export function readPreRetrievalConfig(value: unknown, place: string): ReadPreRetrievalConfig {
  const { value: renamed, warnings } = withoutOldNames(unwrapped(value), place);
  const parsed = schema.safeParse(renamed);
  if (parsed.success) return { config: parsed.data, warnings };
  const { path, message } = parsed.error.issues[0]!;
  const field = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  throw new BenchError(
    'bad-option',
    `${place}: pre_retrieval${field}: ${message}`,
    `the fields are ${Object.keys(schema.shape).join(', ')}`,
  );
}

/** True if the preparation uses a language model. */
export function asksModel({ action, route_strategy, optimize_type, ...strategies }: PreRetrievalConfig): boolean {
  const does = (wanted: PreRetrievalAction): boolean => action.includes(wanted);
  return (
    (does('route') && route_strategy === 'llm') ||
    (does('optimize') && optimize_type === 'rewrite' && strategies.rewrite_strategy === 'llm') ||
    (does('decompose') && strategies.decompose_strategy === 'llm')
  );
}

function unwrapped(value: unknown): unknown {
  return ['operators', 'pre_retrieval'].reduce(
    (inner, key) => (isObject(inner) && Object.keys(inner).join() === key ? inner[key] : inner),
    value,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
