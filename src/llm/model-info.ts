import type { NumberType } from './state-format.ts';

/** The id of a token in the vocabulary of the model. */
export type TokenId = number;

/** How the model turns keys by their position: what re-positioning a cached key must undo and redo. */
export interface RopeLayout {
  readonly base: number;
  /** Multiplies every angle: 1 / factor of linear scaling, 1 without it. */
  readonly frequencyScale: number;
  /** How many dimensions of a head are turned, from the first on. */
  readonly dimensions: number;
  /** `norm` turns the pairs (2j, 2j+1), `neox` the pairs (j, j + dimensions/2). */
  readonly pairing: 'norm' | 'neox';
  /** As the file names it: `none`, `linear`, `yarn`; `longrope` also where the file has factors for it. */
  readonly scaling: string;
  /** Divides the angle of pair j; undefined where the model has no tensor `rope_freqs.weight` (Llama 3 has one). */
  readonly frequencyFactors: readonly number[] | undefined;
}

/** What the header of a GGUF file says of its model. */
export interface GgufHeader {
  readonly name: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly trainContextTokens: number;
  readonly vocabularySize: number;
  readonly layers: number;
  /** K/V heads of a layer; undefined where layers differ. */
  readonly kvHeads: number | undefined;
  /** Numbers in the key of one head. */
  readonly headDimension: number;
  /** Numbers in the value of one head. */
  readonly valueDimension: number;
  /** Numbers that a token has in the keys and values of all layers. */
  readonly kvNumbersPerToken: number;
  readonly rope: RopeLayout;
  /** In how many dimensions a token has a position: more than one with M-RoPE. */
  readonly positionDimensions: number;
  /** How far back some or all layers see; undefined where all see everything. */
  readonly slidingWindowTokens: number | undefined;
  /** The tokens at which generation ends, as the file names them: of a text, of a turn, of a message. */
  readonly stopTokens: readonly { readonly id: TokenId; readonly text: string }[];
  /** The Jinja template of the model's own chat format. */
  readonly chatTemplate: string | undefined;
}

/** What is known of a loaded model and of the way in which it was loaded. */
export interface ModelInfo extends GgufHeader {
  readonly path: string;
  /** sha-256 of the file, in hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Positions of one sequence: the window. */
  readonly contextTokens: number;
  /** Cells of one sequence: as many, or more where blocks may share positions. */
  readonly cellTokens: number;
  /** Only where the model asks for one in front of every text. */
  readonly bosToken: TokenId | undefined;
  readonly eosToken: TokenId | undefined;
  readonly threads: number;
  readonly backend: { readonly name: 'llama.cpp'; readonly nodeLlamaCpp: string; readonly llamaCppRelease: string };
  /** Everything that shapes the bytes of a K/V state. */
  readonly contextOptions: {
    readonly flashAttention: false;
    readonly kvType: NumberType;
    readonly batchTokens: number;
    readonly sequences: number;
  };
}
