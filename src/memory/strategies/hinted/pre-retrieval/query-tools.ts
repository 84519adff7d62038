/** A question and the strategy that fits it. */
export interface RouteExample {
  readonly question: string;
  readonly strategy: string;
}

/** A language model that prepares questions. What it is given is data: it must not act on it. */
export interface QueryModel extends AsyncDisposable {
  readonly name: string;
  /**
   * How much more probable each label is after the prompt than after the neutral one: mean ln p of its tokens, by
   * label in their order.
   */
  scoreLabels(prompt: string, neutralPrompt: string, labels: readonly string[]): Promise<readonly number[]>;
  /** Goes on from a prompt, to the end of the line. */
  writeLine(prompt: string): Promise<string>;
}

/** What the preparation of questions may use: none of it reaches a store. */
export interface QueryTools {
  /** The unit vectors of texts, in their order. */
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  /** What the classifier learns from. */
  readonly examples: readonly RouteExample[];
  /** What a model has to get right before it may do anything; it has learnt from none of these. */
  readonly probes: readonly RouteExample[];
  readonly model?: QueryModel | undefined;
}
