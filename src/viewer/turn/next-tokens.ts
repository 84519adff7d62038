/** A likely next token of one arm or of both. */
export interface NextToken {
  readonly token: string;
  /** Undefined if it is not among the likeliest tokens, which are stored. */
  readonly here: number | undefined;
  readonly there: number | undefined;
}

type Likely = readonly { readonly token: string; readonly probability: number }[];

/**
 * Pairs the likeliest next tokens of two arms: in the order of the first, then those of the second alone.
 * Different tokens may have one text; the n-th of a text is then paired with the n-th of the other arm.
 */
export function nextTokens(here: Likely, there: Likely): NextToken[] {
  const left = [...there];
  const rows = here.map(({ token, probability }): NextToken => {
    const index = left.findIndex((other) => other.token === token);
    const [other] = index === -1 ? [] : left.splice(index, 1);
    return { token, here: probability, there: other?.probability };
  });
  return [...rows, ...left.map(({ token, probability }) => ({ token, here: undefined, there: probability }))];
}
