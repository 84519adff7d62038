import type { Suite } from '../run/suite.ts';

/** Table 3b: one option of how blocks are made and placed at a time, and shared tokens where blocks see nothing else too. */
export const placementSuite: Suite = {
  name: 'placement',
  question:
    'one option of blocks at a time: what they see when they are computed, shared tokens, positions, temperature',
  arms: [
    'rag',
    'dki-blocks',
    'dki-blocks@context=none',
    'dki-blocks@context=previous',
    'dki-blocks@sink=4',
    'dki-blocks@sink=4:kept',
    'dki-blocks@context=none@sink=4',
    'dki-blocks@context=none@sink=4:kept',
    'dki-parallel',
    'dki-parallel@temperature=0.9',
  ],
  // Of the data that ship, so that a small model answers within a minute.
  shipped: { limit: 24 },
};
