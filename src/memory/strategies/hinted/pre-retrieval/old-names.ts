import { BenchError } from '../../../../config/bench-error.ts';
import type { QueryRecord } from './query-record.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A configuration under today's names: `keyword_rules[].route` was the strategy of a rule, `retrieval_routes` the
 * strategies that are taken where no rule is met.
 *
 * @throws BenchError `bad-option` where old and new name stand side by side
 * @see seed 003 §5.2
 */
export function withoutOldNames(
  value: unknown,
  place: string,
): { readonly value: unknown; readonly warnings: readonly string[] } {
  if (!isFields(value)) return { value, warnings: [] };
  const warnings: string[] = [];
  const { keyword_rules: rules, retrieval_routes: routes, ...rest } = value;
  let fields: Fields = rest;
  if (routes !== undefined) {
    refuseBoth(value, 'retrieval_routes', 'default_strategy', place);
    const [strategy] = Array.isArray(routes) ? (routes as readonly unknown[]) : [routes];
    fields = { ...fields, default_strategy: strategy };
    warnings.push(
      `${place}: retrieval_routes is now called default_strategy: write "default_strategy": ${shown(strategy)}`,
    );
  }
  if (rules === undefined) return { value: fields, warnings };
  if (!Array.isArray(rules)) return { value: { ...fields, keyword_rules: rules }, warnings };
  const renamed = (rules as readonly unknown[]).map((rule, index): unknown => {
    if (!isFields(rule) || rule['route'] === undefined) return rule;
    const name = `keyword_rules[${index}]`;
    refuseBoth(rule, 'route', 'strategy', `${place}: ${name}`);
    const { route: strategy, ...others } = rule;
    warnings.push(`${place}: ${name}.route is now called strategy: write "strategy": ${shown(strategy)}`);
    return { ...others, strategy };
  });
  return { value: { ...fields, keyword_rules: renamed }, warnings };
}

/** A record under today's names: `retrieval_routes` was a list of what are the hints' strategies now. */
export function withHints(record: QueryRecord & { readonly retrieval_routes?: readonly string[] }): QueryRecord {
  const { retrieval_routes: strategies, ...rest } = record;
  if (strategies === undefined || rest.retrieval_hints !== undefined) return rest;
  return { ...rest, retrieval_hints: { strategies, route_strategy: 'keyword', params: {} } };
}

function refuseBoth(fields: Fields, old: string, name: string, place: string): void {
  if (fields[name] === undefined) return;
  throw new BenchError(
    'bad-option',
    `${place}: ${old} and ${name} both stand there`,
    `${old} is the old name of ${name}: take it away`,
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? '"…"' : JSON.stringify(value);
}
