import { BenchError } from '../../../base/bench-error.ts';
import { routeByKeyword } from './keyword-route.ts';
import { assessRouting, describeAbility, routeByModel, type RoutingAbility } from './model-route.ts';
import type { PreRetrievalConfig } from './pre-retrieval-config.ts';
import { fellBack, type QueryRecord, type QueryTools, type RetrievalHints } from './query-record.ts';
import { RouteClassifier } from './route-classifier.ts';

/** Adds hints to questions, by keyword, classifier or language model. */
export class QuestionRouter {
  readonly #config: PreRetrievalConfig;
  readonly #tools: QueryTools;
  #classifier: RouteClassifier | undefined;
  #ability: Promise<RoutingAbility> | undefined;

  constructor(config: PreRetrievalConfig, tools: QueryTools) {
    this.#config = config;
    this.#tools = tools;
  }

  /** Adds hints to a record, judged by the original question. */
  async route(record: QueryRecord): Promise<QueryRecord> {
    const question = record.original_question ?? record.question;
    switch (this.#config.route_strategy) {
      case 'keyword': {
        const { strategies, params } = routeByKeyword(question, this.#config.keyword_rules);
        return strategies.length === 0 ? this.#byDefault(record) : withHints(record, this.#hints(strategies, params));
      }
      case 'classifier': {
        this.#classifier ??= new RouteClassifier(this.#tools.examples);
        const { strategy } = this.#classifier.classify(question);
        return withHints(record, this.#hints([strategy], this.#paramsOf(strategy)));
      }
      case 'llm':
        return this.#byModel(record, question);
    }
  }

  /** Ability of the model to route, measured once; undefined without a model. */
  async ability(): Promise<RoutingAbility | undefined> {
    const { model, probes } = this.#tools;
    if (model === undefined) return undefined;
    return (this.#ability ??= assessRouting(model, probes));
  }

  async #byModel(record: QueryRecord, question: string): Promise<QueryRecord> {
    const { model, probes } = this.#tools;
    if (model === undefined) return fellBack(this.#byDefault(record), 'there is no language model to route questions');
    try {
      const ability = await (this.#ability ??= assessRouting(model, probes));
      if (!ability.able) return fellBack(this.#byDefault(record), describeAbility(model.name, ability));
      const labels = [...new Set(probes.map(({ strategy }) => strategy))];
      const strategy = await routeByModel(model, question, labels);
      return withHints(record, this.#hints([strategy], this.#paramsOf(strategy)));
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'context-overflow') throw error;
      return fellBack(this.#byDefault(record), `${model.name} cannot route questions: ${error.message}`);
    }
  }

  #byDefault(record: QueryRecord): QueryRecord {
    const { default_strategy } = this.#config;
    return withHints(record, this.#hints([default_strategy], this.#paramsOf(default_strategy)));
  }

  /** Parameters of a strategy from the keyword rules, by whichever method it was chosen. */
  #paramsOf(strategy: string): Readonly<Record<string, unknown>> {
    return this.#config.keyword_rules.find((rule) => rule.strategy === strategy)?.params ?? {};
  }

  #hints(strategies: readonly string[], params: Readonly<Record<string, unknown>>): RetrievalHints {
    return { strategies, route_strategy: this.#config.route_strategy, params };
  }
}

function withHints(record: QueryRecord, retrieval_hints: RetrievalHints): QueryRecord {
  return { ...record, retrieval_hints };
}
