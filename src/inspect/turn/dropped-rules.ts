const rules: Readonly<Record<string, string>> = {
  'memory-budget': 'the memories before it filled their part of the budget',
  'history-budget': 'newer messages filled the rest of the budget',
  'forced-truncation': 'the whole was too long: the query alone was kept',
};

/** The rule that dropped a part of the prompt, by name and in words. */
export function droppedRule(rule: string): string {
  const words = rules[rule];
  return words === undefined ? rule : `${rule}: ${words}`;
}
