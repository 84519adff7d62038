/** A text to tokenise alone, without BOS. */
export interface TokenizeRequest {
  readonly text: string;
  /** `text` never yields control tokens: for users and memories. `template` may: for a chat template's own markers. */
  readonly as: 'text' | 'template';
  /** Default false. True where the text opens the sequence: tokenisers that add a leading space add it there alone. */
  readonly first?: boolean;
}
