import type { TokenId, TokenIds } from './token-id.ts';

/** A model as described by its file or server, without reading the weights. Null fields: not shown. */
export interface ModelDescription {
  readonly name: string;
  readonly architecture: string;
  readonly parameters: number | null;
  readonly sizeBytes: number | null;
  /** Context length in training; if not shown, the longest sequence that the server accepts. */
  readonly trainContextTokens: number;
  readonly vocabularySize: number | null;
  readonly layers: number | null;
  /** Bytes of KV per token over all layers, by number type. */
  readonly kvBytesPerToken: Readonly<Record<'f16' | 'q8_0', number>> | null;
  /** `full`, or a limit such as `sliding window of 512 tokens`. */
  readonly attention: string;
  /** RoPE parameters; `scaling` as named in the file (`none`, `linear`, `yarn`). */
  readonly rope: { readonly base: number; readonly scaling: string; readonly scale: number } | null;
  readonly stopTokens: readonly { readonly id: TokenId; readonly text: string }[];
  readonly chatTemplate: string | null;
}

/** A model with known sizes, from its file or a llama-server. */
export interface KnownModel extends ModelDescription {
  readonly parameters: number;
  readonly vocabularySize: number;
}

/** An engine and its model, as runs record them. */
export interface EngineInfo {
  /** The adapter's name, such as `llama-cpp`. */
  readonly engine: string;
  readonly build: Readonly<Record<string, string>>;
  readonly model: ModelDescription;
  /** SHA-256 of the model file in hex; null if the file is not on this machine. */
  readonly modelSha256: string | null;
  /** Positions of one session: the context window. */
  readonly contextTokens: number;
  /** Cells of one session: more than positions if blocks may share positions. */
  readonly cellTokens: number;
  readonly threads: number | null;
  /** The device that runs the model; null if not shown. */
  readonly compute: {
    /** `cpu`, or an accelerator backend such as `vulkan`. */
    readonly backend: string;
    readonly devices: readonly string[];
    readonly memoryBytes: number;
    /** Layers on the devices, counting the output layer. */
    readonly layers: number;
    readonly flashAttention: boolean;
  } | null;
  /** Token at the start of every sequence; null if the model has none. */
  readonly bosToken: TokenId | null;
  /** Texts of the BOS and EOS tokens, for chat templates; empty if there is none. */
  readonly markers: { readonly bos: string; readonly eos: string };
  /** Tokens at which the engine ends generation. */
  readonly endTokens: TokenIds;
  /** Everything that saved KV depends on: model, build options, number types. Null if the engine cannot save KV. */
  readonly stateIdentity: string | null;
}
