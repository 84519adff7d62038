import type { TokenId, TokenIds } from './token-id.ts';

/** What is known of a model before its weights are read. Null: the engine does not show it. */
export interface ModelDescription {
  readonly name: string;
  readonly architecture: string;
  readonly parameters: number | null;
  readonly sizeBytes: number | null;
  /** Positions that the model was trained on; the longest sequence where the engine does not show them. */
  readonly trainContextTokens: number;
  readonly vocabularySize: number | null;
  readonly layers: number | null;
  /** Bytes of KV per token in all layers, by storage type. */
  readonly kvBytesPerToken: Readonly<Record<'f16' | 'q8_0', number>> | null;
  /** `full`, or a limit such as `sliding window of 512 tokens`. */
  readonly attention: string;
  /** Rotation of keys by position; `scaling` is the file's name for it (`none`, `linear`, `yarn`). */
  readonly rope: { readonly base: number; readonly scaling: string; readonly scale: number } | null;
  readonly stopTokens: readonly { readonly id: TokenId; readonly text: string }[];
  readonly chatTemplate: string | null;
}

/** A model whose file is read, or whose server shows its sizes. */
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
  /** sha-256 of the model's file in hex; null where the file is not on this machine. */
  readonly modelSha256: string | null;
  /** Positions of one session: the context window. */
  readonly contextTokens: number;
  /** Cells of one session: as many, or more where blocks may share positions. */
  readonly cellTokens: number;
  readonly threads: number | null;
  /** The device that computes; null where the engine does not show it. */
  readonly compute: {
    /** `cpu`, or an accelerator's interface such as `vulkan`. */
    readonly backend: string;
    readonly devices: readonly string[];
    readonly memoryBytes: number;
    /** Layers on the devices, with the output layer. */
    readonly layers: number;
    readonly flashAttention: boolean;
  } | null;
  /** The token in front of every text, where the model has one. */
  readonly bosToken: TokenId | null;
  /** Texts of the tokens that open and close a text, for chat templates; empty where there is none. */
  readonly markers: { readonly bos: string; readonly eos: string };
  /** Tokens at which the engine ends generation. */
  readonly endTokens: TokenIds;
  /** All that the bytes of a state depend on: model, build options, number types. Null for an engine without states. */
  readonly stateIdentity: string | null;
}
