import type { QueryModel, RouteExample } from './query-tools.ts';

/** Points of accuracy by which a model has to beat chance before its labels are worth anything. */
const LEAST_ADVANTAGE = 0.2;
/** Characters of a question that a model is shown. */
const MOST_SHOWN = 500;

/** What a model is told of each strategy; others are told by their name. */
const meanings: Readonly<Record<string, string>> = {
  deep_search: 'search everything ever said and follow the links between memories',
  temporal_search: 'search only what was said recently',
  persona_search: 'search what is known of the character and the preferences of the user',
  semantic_search: 'look up one fact',
};

/** Whether a model can tell strategies apart. */
export interface RoutingAbility {
  readonly able: boolean;
  /** Share of the probes that it labelled rightly. */
  readonly accuracy: number;
  /** Of whoever always gives the commonest label. */
  readonly chance: number;
  readonly probes: number;
}

/** The strategy whose label gains most by the question, as the model sees it. */
export async function routeByModel(model: QueryModel, question: string, labels: readonly string[]): Promise<string> {
  const scores = await model.scoreLabels(promptFor(question, labels), promptFor('', labels), labels);
  return labels[scores.indexOf(Math.max(...scores))]!;
}

/** Lets a model label questions of which the strategy is known. */
export async function assessRouting(model: QueryModel, probes: readonly RouteExample[]): Promise<RoutingAbility> {
  const labels = [...new Set(probes.map(({ strategy }) => strategy))];
  const counts = labels.map((label) => probes.filter(({ strategy }) => strategy === label).length);
  let right = 0;
  for (const { question, strategy } of probes) {
    if ((await routeByModel(model, question, labels)) === strategy) right++;
  }
  const accuracy = right / probes.length;
  const chance = Math.max(...counts) / probes.length;
  return { able: accuracy >= chance + LEAST_ADVANTAGE, accuracy, chance, probes: probes.length };
}

/** One line, for people. */
export function describeAbility(name: string, { able, accuracy, chance, probes }: RoutingAbility): string {
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const verdict = able ? 'can route questions' : 'cannot route questions';
  return `${name} ${verdict}: ${percent(accuracy)} of ${probes} right, by chance ${percent(chance)}`;
}

function promptFor(question: string, labels: readonly string[]): string {
  const choices = labels.map((label) => `${label}: ${meanings[label] ?? label}`).join('\n');
  const shown = [...question].slice(0, MOST_SHOWN).join('').replaceAll('\n', ' ');
  return `Choose how to search the memories of a user for a question.\n${choices}\nQuestion: ${shown}\nChoice:`;
}
