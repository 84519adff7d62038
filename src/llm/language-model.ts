import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { availableParallelism } from 'node:os';
import { pipeline } from 'node:stream/promises';
import type { LlamaContext, LlamaModel, Token } from 'node-llama-cpp';
import { BenchError } from '../config/bench-error.ts';
import { readGgufHeader } from './gguf-header.ts';
import { LlamaBackend } from './llama-backend.ts';
import { checkModelFile } from './model-check.ts';
import { ModelClock } from './model-clock.ts';
import type { ModelInfo, TokenId } from './model-info.ts';
import { ModelSequence } from './model-sequence.ts';
import type { NumberType } from './state-format.ts';

const LONGEST_DEFAULT_CONTEXT_TOKENS = 4096;
const BATCH_TOKENS = 512;
/** Below this number of parameters, threads wait for each other longer than they work. */
const ONE_THREAD_BELOW_PARAMETERS = 50e6;
const CACHED_TEXTS = 20_000;

/** How to load a model. */
export interface LanguageModelOptions {
  readonly modelPath: string;
  /** Positions of one sequence. Default: the window that the model was trained on, at most 4,096. */
  readonly contextTokens?: number;
  /** Cells for each position of a sequence: more than 1 where blocks share positions. Default 1. */
  readonly cellsPerPosition?: number;
  /** Default: 1 for a model below 50 million parameters, else one for each core. */
  readonly threads?: number;
  /** How many sequences can be open at once. Default 1. */
  readonly sequences?: number;
  /** The numbers that keys and values are kept in. Default F16; F32 for comparison with an exact computation. */
  readonly kvType?: NumberType;
}

/** Tells a text that opens the sequence from one that follows another. */
export interface TokenizeOptions {
  /** Default false. Only tokenisers that add a leading space make a difference: they add it here alone. */
  readonly first?: boolean;
}

interface LoadedParts {
  readonly backend: LlamaBackend;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly info: ModelInfo;
  readonly addsLeadingSpace: boolean;
}

/**
 * A language model on llama.cpp, on the CPU, without flash attention: so that a prefix that was loaded gives the
 * bits of the same prefix that was evaluated.
 *
 * @example
 * await using model = await LanguageModel.load({ modelPath: 'models/recall-base/recall-base-f16.gguf' });
 * await using sequence = model.openSequence();
 * const { text } = await sequence.generate(model.tokenizeText('User: hello\n\nAI:'), { maxTokens: 16 });
 */
export class LanguageModel {
  /** Time that this model spent inside node-llama-cpp. */
  readonly clock = new ModelClock();
  readonly info: ModelInfo;
  readonly #parts: LoadedParts;
  readonly #tokenised = new Map<string, readonly TokenId[]>();

  private constructor(parts: LoadedParts) {
    this.#parts = parts;
    this.info = parts.info;
  }

  /**
   * Loads a model and makes room for its sequences.
   * @throws BenchError `bad-model` where the file is no model, is cut short, is larger than free memory, or its
   * window does not fit; `not-found` where llama.cpp has no binary for this machine
   */
  static async load(options: LanguageModelOptions): Promise<LanguageModel> {
    const { modelPath, sequences = 1, kvType = 'F16', cellsPerPosition = 1 } = options;
    const sizeBytes = checkModelFile(modelPath, process.availableMemory());
    const header = await readGgufHeader(modelPath);
    const threads = options.threads ?? (header.parameters < ONE_THREAD_BELOW_PARAMETERS ? 1 : availableParallelism());
    const contextTokens = options.contextTokens ?? Math.min(header.trainContextTokens, LONGEST_DEFAULT_CONTEXT_TOKENS);
    const backend = await LlamaBackend.get();
    // What llama.cpp complained of before is not about this file.
    await backend.takeComplaint();
    let model: LlamaModel | undefined;
    try {
      const [loaded, sha256, { getModuleVersion }] = await Promise.all([
        backend.llama.loadModel({ modelPath, defaultContextFlashAttention: false }),
        sha256OfFile(modelPath),
        import('node-llama-cpp'),
      ]);
      model = loaded;
      const context = await model.createContext({
        contextSize: contextTokens * cellsPerPosition,
        sequences,
        threads,
        batchSize: BATCH_TOKENS,
        flashAttention: false,
        experimentalKvCacheKeyType: kvType,
        experimentalKvCacheValueType: kvType,
        // A shorter window than was asked for would change what fits, silently.
        failedCreationRemedy: false,
        // Each pass starts at once: there are no others to wait for.
        batching: { dispatchSchedule: (dispatch) => dispatch() },
      });
      const { tokens } = model;
      const info: ModelInfo = {
        ...header,
        path: modelPath,
        sha256,
        sizeBytes,
        contextTokens,
        cellTokens: contextTokens * cellsPerPosition,
        bosToken: tokens.shouldPrependBosToken ? (tokens.bos ?? undefined) : undefined,
        eosToken: tokens.eos ?? undefined,
        threads,
        backend: {
          name: 'llama.cpp',
          nodeLlamaCpp: await getModuleVersion(),
          llamaCppRelease: backend.llama.llamaCppRelease.release,
        },
        contextOptions: { flashAttention: false, kvType, batchTokens: context.batchSize, sequences },
      };
      return new LanguageModel({ backend, model, context, info, addsLeadingSpace: addsLeadingSpace(model) });
    } catch (cause) {
      const complaint = await backend.takeComplaint();
      await model?.dispose();
      const why = complaint ?? (cause instanceof Error ? cause.message : String(cause));
      throw new BenchError(
        'bad-model',
        `${modelPath}: llama.cpp cannot load it: ${why}`,
        'if the file was downloaded, download it again; if memory is short, lower --context-tokens',
        cause,
      );
    }
  }

  /**
   * Ids of a text of a user or a memory: special tokens are off, so that no text can forge a role or an end.
   * Remembers the last 20,000 texts.
   */
  tokenizeText(text: string, { first = false }: TokenizeOptions = {}): readonly TokenId[] {
    const trimmed = this.#parts.addsLeadingSpace && !first;
    const key = `${trimmed ? '-' : '+'}${text}`;
    const known = this.#tokenised.get(key);
    if (known !== undefined) return known;
    const tokens = this.clock.timeSync(() =>
      this.#parts.model.tokenize(text, false, trimmed ? 'trimLeadingSpace' : undefined),
    );
    if (this.#tokenised.size >= CACHED_TEXTS) this.#tokenised.delete(this.#tokenised.keys().next().value!);
    this.#tokenised.set(key, tokens);
    return tokens;
  }

  /** Empties the memory of `tokenizeText`, so that the next prompt pays for itself. */
  forgetTexts(): void {
    this.#tokenised.clear();
  }

  /** Ids of a template's own marker, such as `<|im_start|>`: special tokens are on. Never for text from outside. */
  tokenizeControl(text: string): readonly TokenId[] {
    return this.#parts.model.tokenize(text, true, this.#parts.addsLeadingSpace ? 'trimLeadingSpace' : undefined);
  }

  /** The text of tokens; control tokens have none. */
  detokenize(tokens: readonly TokenId[]): string {
    return this.#parts.model.detokenize(tokens as readonly Token[]);
  }

  /** The texts of the tokens that open and close a text, which chat templates write themselves; empty where there is none. */
  get markers(): { readonly bos: string; readonly eos: string } {
    const { model } = this.#parts;
    const textOf = (token: Token | null): string => (token === null ? '' : model.detokenize([token], true));
    return { bos: textOf(model.tokens.bos), eos: textOf(model.tokens.eos) };
  }

  /** Whether generation ends where the model gives this token: the ends of text and of turn that its file names. */
  endsText(token: TokenId): boolean {
    return this.#parts.model.isEogToken(token as Token);
  }

  /** A new, empty sequence. @throws RangeError where as many are open as the model was loaded for */
  openSequence(): ModelSequence {
    const { context, backend } = this.#parts;
    return new ModelSequence({
      context,
      info: this.info,
      clock: this.clock,
      detokenize: (tokens) => this.detokenize(tokens),
      takeComplaint: () => backend.takeComplaint(),
    });
  }

  /** Frees the model and all its sequences. */
  async dispose(): Promise<void> {
    const { model, context } = this.#parts;
    await context.dispose();
    await model.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Whether a leading space makes a word that opens the text another token than the same word written bare. */
function addsLeadingSpace(model: LlamaModel): boolean {
  return (
    model.fileInfo.metadata.tokenizer.ggml.model === 'llama' &&
    model.fileInfo.metadata.tokenizer.ggml.add_space_prefix !== false
  );
}
