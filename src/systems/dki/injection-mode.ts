/**
 * How memories become K/V: as one contiguous `prefix`, the sequence of RAG; as `blocks` that do not see each other; with
 * the first tokens of every block evaluated again in sight of what precedes it (`link`); or as blocks that all begin at
 * the same position (`parallel`).
 */
export type InjectionMode = 'prefix' | JoinedMode;

/** The modes that join memories which were evaluated alone. */
export type JoinedMode = 'blocks' | 'parallel' | LinkMode;

/** Blocks of which the first so many tokens are evaluated again; 0 is `blocks`, as many as the longest has is `prefix`. */
export interface LinkMode {
  readonly link: number;
}

/** `{ link: tokensOfEach }`; beside plain names a literal would be read as a string's own, deprecated `link`. */
export function linkMode(tokensOfEach: number): LinkMode {
  return { link: tokensOfEach };
}

/** `prefix`, `blocks`, `link:4`, `parallel` */
export function modeName(mode: InjectionMode): string {
  return typeof mode === 'string' ? mode : `link:${mode.link}`;
}

/** The mode of joined blocks that `modeName` gave that name; undefined for any other. */
export function joinedModeNamed(name: string): JoinedMode | undefined {
  if (name === 'blocks' || name === 'parallel') return name;
  const tokensOfEach = /^link:(\d+)$/.exec(name)?.[1];
  return tokensOfEach === undefined ? undefined : linkMode(Number(tokensOfEach));
}
