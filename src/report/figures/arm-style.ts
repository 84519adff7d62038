import { parseArmName } from '../../config/arm-name.ts';

interface ArmStyle {
  readonly colour: string;
  readonly shape: string;
  /** Lengths of strokes and gaps of its lines, px. */
  readonly dash: readonly number[];
}

/**
 * How an arm looks in every figure. The colours keep a contrast of 3 to both white and near-black paper, and differ for
 * colour-blind readers among the arms that stand together; a shape and a dash go with each, for print.
 */
const styles: Readonly<Record<string, ArmStyle>> = {
  rag: { colour: '#3f78c1', shape: 'circle', dash: [1, 0] },
  'rag-cached': { colour: '#1b93a8', shape: 'square', dash: [6, 3] },
  dki: { colour: '#d95f0e', shape: 'triangle-up', dash: [1, 0] },
  'dki-blocks': { colour: '#2b8c4b', shape: 'diamond', dash: [6, 3] },
  'dki-blocks+ahead': { colour: '#5d8a1f', shape: 'triangle-right', dash: [10, 3] },
  'dki-link': { colour: '#b8458a', shape: 'triangle-down', dash: [2, 2] },
  'dki-parallel': { colour: '#9c7c14', shape: 'cross', dash: [8, 3, 2, 3] },
  'dki-hybrid': { colour: '#8a63d2', shape: 'triangle-right', dash: [4, 2] },
  'dki-gated': { colour: '#c0504d', shape: 'triangle-left', dash: [2, 3] },
  'rag-twin': { colour: '#5b7fa6', shape: 'circle', dash: [1, 2] },
  none: { colour: '#808080', shape: 'stroke', dash: [2, 4] },
  oracle: { colour: '#7a7f2a', shape: 'square', dash: [3, 3] },
  full: { colour: '#a0644a', shape: 'diamond', dash: [5, 5] },
};

const unknown: ArmStyle = { colour: '#808080', shape: 'circle', dash: [4, 4] };

/** Arms that check the bench and do not compete; no figure of quality or cost shows them. */
const controls: readonly string[] = ['rag-twin', 'dki-wrong'];

/** Whether an arm competes. */
export function isContender(arm: string): boolean {
  return !controls.includes(arm);
}

/** The scales that give each arm its colour, its shape and its dash; one legend explains all three. */
export function armEncoding(arms: readonly string[]) {
  const looks = arms.map((arm) => {
    const parsed = parseArmName(arm);
    return styles[parsed?.linkTokens === undefined ? (parsed?.base ?? arm) : 'dki-link'] ?? unknown;
  });
  const channel = <Range>(range: readonly Range[]) => ({
    field: 'arm',
    type: 'nominal' as const,
    scale: { domain: [...arms], range: [...range] },
    title: null,
  });
  return {
    color: channel(looks.map(({ colour }) => colour)),
    shape: channel(looks.map(({ shape }) => shape)),
    strokeDash: channel(looks.map(({ dash }) => [...dash])),
  };
}
