import type { TokenId } from './token-id.ts';
import { BenchError } from '../base/bench-error.ts';

/** A model, as far as it is known before its weights are read. */
export interface ModelDescription {
  readonly name: string;
  readonly architecture: string;
  /** Null where the engine does not show it. */
  readonly parameters: number | null;
  /** Of the file, or null where the engine does not show it. */
  readonly sizeBytes: number | null;
  /** Positions that the model was trained on; where the engine does not show that, as many as it takes. */
  readonly trainContextTokens: number;
  /** Null where the engine does not show it. */
  readonly vocabularySize: number | null;
  /** Null where the engine does not show it. */
  readonly layers: number | null;
  /** Bytes of KV a token in all layers, by the type that it is stored in. */
  readonly kvBytesPerToken: Readonly<Record<'f16' | 'q8_0', number>> | null;
  /** `full`, or the way in which layers see less, such as `sliding window of 512 tokens`. */
  readonly attention: string;
  /** Rotation of keys by position, `scaling` as the file names it (`none`, `linear`, `yarn`); null where the engine does not show it. */
  readonly rope: { readonly base: number; readonly scaling: string; readonly scale: number } | null;
  /** Tokens at which generation ends, as the file names them. */
  readonly stopTokens: readonly { readonly id: TokenId; readonly text: string }[];
  /** The model's own chat template, Jinja; null where it has none. */
  readonly chatTemplate: string | null;
}

/** A model whose file is read, or whose server shows its numbers. */
export interface KnownModel extends ModelDescription {
  readonly parameters: number;
  readonly vocabularySize: number;
}

/** A loaded model and the way in which it was loaded. */
export interface EngineInfo {
  /** The adapter's name, such as `llama-cpp`. */
  readonly engine: string;
  /** Versions of all that computes, by name. */
  readonly build: Readonly<Record<string, string>>;
  readonly model: ModelDescription;
  /** sha-256 of the model's file in hex; null where it is out of reach. */
  readonly modelSha256: string | null;
  /** Positions of one session: the context window. */
  readonly contextTokens: number;
  /** Cells of one session: as many, or more where blocks may share positions. */
  readonly cellTokens: number;
  readonly threads: number | null;
  /** The device that computes the model, beside the threads of the CPU; null where the engine does not show it. */
  readonly compute: {
    /** `cpu`, or an accelerator's interface such as `vulkan`. */
    readonly backend: string;
    /** Names of the devices; empty on the CPU. */
    readonly devices: readonly string[];
    /** Memory of the devices together. */
    readonly memoryBytes: number;
    /** Layers on the devices, the output layer counted. */
    readonly layers: number;
    readonly flashAttention: boolean;
  } | null;
  /** The token in front of every text, where the model asks for one. */
  readonly bosToken: TokenId | null;
  /** Texts of the tokens that open and close a text, which chat templates write themselves; empty where there is none. */
  readonly markers: { readonly bos: string; readonly eos: string };
  /** Tokens at which the engine ends generation. */
  readonly endTokens: readonly TokenId[];
  /** All that the bytes of a state depend on: model, build options, number types. Null where states are out of reach. */
  readonly stateIdentity: string | null;
}

/** The size of a session. */
export type Window = Pick<EngineInfo, 'contextTokens' | 'cellTokens'>;

/**
 * Refuses what does not fit. A window of n tokens has n − 1 cells to evaluate into: the last token of all is sampled,
 * never evaluated.
 * @param reserve tokens to follow, the sampled one included
 * @throws BenchError `context-overflow`
 */
export function requireSpace(window: Window, cells: number, positions: number, reserve: number): void {
  const { contextTokens, cellTokens } = window;
  if (cells + reserve > cellTokens) throw overflow(cells, reserve, cellTokens);
  if (positions + reserve > contextTokens) throw overflow(positions, reserve, contextTokens);
}

function overflow(tokens: number, reserve: number, windowTokens: number): BenchError {
  return new BenchError(
    'context-overflow',
    `${tokens} tokens and ${reserve} to follow do not fit into a window of ${windowTokens} tokens`,
    'shorten the text, keep fewer memories, or take a longer window: --context-tokens',
  );
}
