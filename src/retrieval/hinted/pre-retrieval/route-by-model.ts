import type { QueryModel, RouteExample } from './pre-retrieval-types.ts';

/** Accuracy above chance that a model needs before its labels are used. */
const MIN_ADVANTAGE = 0.2;
const MAX_SHOWN = 500;

/** Descriptions of strategies for the model; others are described by their name. */
const meanings: Readonly<Record<string, string>> = {
  deep_search: 'search everything ever said and follow the links between memories',
  temporal_search: 'search only what was said recently',
  persona_search: 'search what is known of the character and the preferences of the user',
  semantic_search: 'look up one fact',
};

export type RoutingAbility = Awaited<ReturnType<typeof assessRouting>>;

/** Chooses the strategy whose label becomes most probable by the question, compared with an empty question. */
export async function routeByModel(model: QueryModel, question: string, labels: readonly string[]): Promise<string> {
  const scores = await model.scoreLabels(promptFor(question, labels), promptFor('', labels), labels);
  return labels[scores.indexOf(Math.max(...scores))]!;
}

/**
 * Measures how well a model routes questions with known strategies.
 * @returns `accuracy`: the share of right labels; `chance`: the accuracy of always choosing the most frequent label
 */
export async function assessRouting(model: QueryModel, probes: readonly RouteExample[]) {
  const labels = [...new Set(probes.map(({ strategy }) => strategy))];
  const counts = labels.map((label) => probes.filter(({ strategy }) => strategy === label).length);
  let right = 0;
  for (const { question, strategy } of probes) {
    if ((await routeByModel(model, question, labels)) === strategy) right++;
  }
  const accuracy = right / probes.length;
  const chance = Math.max(...counts) / probes.length;
  return { able: accuracy >= chance + MIN_ADVANTAGE, accuracy, chance, probes: probes.length };
}

export function describeAbility(name: string, { able, accuracy, chance, probes }: RoutingAbility): string {
  const [right, byChance] = [accuracy, chance].map((share) => `${Math.round(share * 100)} %`);
  return `${name} ${able ? 'can' : 'cannot'} route questions: ${right} of ${probes} right, by chance ${byChance}`;
}

function promptFor(question: string, labels: readonly string[]): string {
  const choices = labels.map((label) => `${label}: ${meanings[label] ?? label}`).join('\n');
  const shown = [...question].slice(0, MAX_SHOWN).join('').replaceAll('\n', ' ');
  return `Choose how to search the memories of a user for a question.\n${choices}\nQuestion: ${shown}\nChoice:`;
}
