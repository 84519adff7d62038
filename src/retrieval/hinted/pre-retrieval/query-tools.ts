/** A question and the strategy that fits it. */
export interface RouteExample {
  readonly question: string;
  readonly strategy: string;
}

/** Port to a language model that prepares questions. Its inputs are data, never instructions. */
export interface QueryModel extends AsyncDisposable {
  readonly name: string;
  /**
   * Scores labels by how much more probable they are after the prompt than after the neutral one.
   * @returns differences of the mean ln p of a label's tokens, in the order of the labels
   */
  scoreLabels(prompt: string, neutralPrompt: string, labels: readonly string[]): Promise<readonly number[]>;
  /** Continues a prompt to the end of the line. */
  writeLine(prompt: string): Promise<string>;
}

/** Tools of the preparation of questions; none reaches a store. */
export interface QueryTools {
  /** Returns the unit vectors of texts, in order. */
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  /** Training examples of the classifier. */
  readonly examples: readonly RouteExample[];
  /** Held-out examples on which a model must prove its ability before it is used. */
  readonly probes: readonly RouteExample[];
  readonly model?: QueryModel | undefined;
}
