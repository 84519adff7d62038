/** A likely next token of one arm or of both. */
export interface NextToken {
  readonly token: string;
  /** Undefined where it is not among the likeliest that are stored. */
  readonly here: number | undefined;
  readonly there: number | undefined;
}

type Likely = readonly { readonly token: string; readonly probability: number }[];

/**
 * The likeliest next tokens of an arm beside those of another: in the arm's order, then those of the other alone.
 * Different tokens may read alike; the n-th of a text is then taken for the n-th of the other.
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
