import { BenchError } from '../../../base/bench-error.ts';
import type { QueryRecord } from './query-record.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts old names of a configuration: `keyword_rules[].route` is now `strategy`, `retrieval_routes` is
 * `default_strategy`.
 * @throws BenchError `bad-option` if an old and its new name are both given
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

/** Converts the old name of a record: `retrieval_routes` is now the hints' list of strategies. */
export function withHints(record: QueryRecord & { readonly retrieval_routes?: readonly string[] }): QueryRecord {
  const { retrieval_routes: strategies, ...rest } = record;
  if (strategies === undefined || rest.retrieval_hints !== undefined) return rest;
  return { ...rest, retrieval_hints: { strategies, route_strategy: 'keyword', params: {} } };
}

function refuseBoth(fields: Fields, old: string, name: string, place: string): void {
  if (fields[name] === undefined) return;
  throw new BenchError(
    'bad-option',
    `${place}: ${old} and ${name} are both given`,
    `remove ${old}, the old name of ${name}`,
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? '"…"' : JSON.stringify(value);
}
