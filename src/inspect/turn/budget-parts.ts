/** The parts of a window, in the order of a bar; `mark` fills theirs in a terminal. */
export const budgetParts = [
  { key: 'fixedTokens', name: 'fixed', look: 'system', mark: '█' },
  { key: 'memoryTokens', name: 'memories', look: 'memory', mark: '▓' },
  { key: 'historyTokens', name: 'history', look: 'history', mark: '▒' },
  { key: 'freeTokens', name: 'free', look: 'free', mark: '·' },
  { key: 'reserveTokens', name: 'reserve', look: 'reserve', mark: '░' },
] as const;
