/** Text, the same as K/V, and what lies between: blocks that have seen each other not at all, in part, or at one position. */
export const joinedArms = [
  'rag',
  'dki',
  'dki-blocks',
  'dki-link:1',
  'dki-link:2',
  'dki-link:4',
  'dki-link:8',
  'dki-link:16',
  'dki-parallel',
] as const;
