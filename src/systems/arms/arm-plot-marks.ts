import type { Mark } from '../../store/records/arm-traits.ts';

function mark(colour: string, shape: Mark['shape'], ...dash: number[]): Mark {
  return { colour, shape, dash };
}

/** Marks of the built-in arms. Arms that select tokens share one colour and differ in shape; so do arms that evict. */
const marks: Readonly<Record<string, Mark>> = {
  none: mark('#6b6f71', 'half-disc', 2, 4),
  oracle: mark('#8c85ad', 'star', 3, 3),
  full: mark('#857925', 'pentagon', 5, 5),
  rag: mark('#268eea', 'circle', 1, 0),
  'rag-cached': mark('#157b91', 'square', 6, 3),
  'rag-twin': mark('#6b6f71', 'circle', 1, 2),
  summary: mark('#2b787f', 'chevron', 1, 3),
  dki: mark('#ad420a', 'triangle-up', 12, 3),
  'dki-resident': mark('#9f8089', 'triangle-left', 12, 3, 2, 3),
  'dki-blocks': mark('#10774d', 'diamond', 3, 2),
  'dki-link': mark('#c40d61', 'triangle-down', 1, 2),
  'dki-first': mark('#856773', 'chevron', 3, 1),
  'dki-random': mark('#928786', 'circle', 1, 2),
  'dki-ranked': mark('#856773', 'star', 5, 2),
  'dki-cacheblend': mark('#856773', 'hourglass', 6, 2),
  'dki-cacheblend-oracle': mark('#856773', 'bow-tie', 1, 3),
  'dki-informative': mark('#856773', 'pentagon', 2, 4),
  'dki-ranked-informative': mark('#856773', 'half-disc', 2, 2, 6, 2),
  'dki-query': mark('#856773', 'triangle-left', 7, 2, 2, 2),
  'dki-parallel': mark('#ab8f68', 'cross', 8, 3, 2, 3),
  'dki-evict-random': mark('#d60022', 'cross', 1, 3),
  'dki-evict-streaming': mark('#d60022', 'square', 1, 3),
  'dki-evict-knorm': mark('#d60022', 'circle', 1, 3),
  'dki-evict-keydiff': mark('#d60022', 'diamond', 1, 3),
  'dki-evict-lagkv': mark('#d60022', 'triangle-down', 1, 3),
  'dki-evict-snapkv': mark('#d60022', 'star', 1, 3),
  'dki-blocks-evict-random': mark('#757f2b', 'cross', 5, 3),
  'dki-blocks-evict-streaming': mark('#757f2b', 'square', 5, 3),
  'dki-blocks-evict-knorm': mark('#757f2b', 'circle', 5, 3),
  'dki-blocks-evict-keydiff': mark('#757f2b', 'diamond', 5, 3),
  'dki-blocks-evict-lagkv': mark('#757f2b', 'triangle-down', 5, 3),
  'dki-blocks-evict-snapkv': mark('#757f2b', 'star', 5, 3),
  'dki-hybrid': mark('#7e8b91', 'bow-tie', 4, 4, 1, 4),
  'dki-gated': mark('#b86b1a', 'hourglass', 2, 3),
  'dki-external': mark('#4a6b8a', 'triangle-right', 3, 2),
  'dki-wrong': mark('#6b6f71', 'circle', 4, 4),
};

const otherShapes = ['cross', 'stroke', 'triangle-right', 'square', 'pentagon', 'diamond'] as const;
const otherColours = ['#555555', '#7a5c00', '#5b3f8c'] as const;

/** The mark of an arm in figures. @param position index of the arm, which chooses the mark of a caller's own arm */
export function armMark(name: string, position: number): Mark {
  const shape = otherShapes[position % otherShapes.length]!;
  return marks[name] ?? mark(otherColours[position % otherColours.length]!, shape, 1, 0);
}
