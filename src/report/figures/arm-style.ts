import type { ArmTraits, Mark } from '../../records/arm-traits.ts';
import type { RunResults } from '../../records/results.ts';

type WithArms = Pick<RunResults, 'arms'>;

const unknown: Mark = { colour: '#808080', shape: 'circle', dash: [4, 4] };

/** The traits of an arm by its name, or by its name without settings. */
function traitsOf({ arms }: WithArms, arm: string): ArmTraits | undefined {
  const all = arms.map(({ traits }) => traits);
  return all.find(({ name }) => name === arm) ?? all.find(({ base }) => base === arm);
}

/** Tells arms that compete from those that only check the bench: a twin, and an arm with another user's memories. */
export function isContender(results: WithArms, arm: string): boolean {
  const traits = traitsOf(results, arm);
  return traits?.control !== 'twin' && traits?.retrieves !== 'donor';
}

/** The scales that give each arm its colour, its shape and its dash; one legend explains all three. */
export function armEncoding(results: WithArms, arms: readonly string[]) {
  const marks = arms.map((arm) => traitsOf(results, arm)?.mark ?? unknown);
  const channel = <Range>(range: readonly Range[]) => ({
    field: 'arm',
    type: 'nominal' as const,
    scale: { domain: [...arms], range: [...range] },
    title: null,
  });
  return {
    color: channel(marks.map(({ colour }) => colour)),
    shape: channel(marks.map(({ shape }) => shape)),
    strokeDash: channel(marks.map(({ dash }) => [...dash])),
  };
}
