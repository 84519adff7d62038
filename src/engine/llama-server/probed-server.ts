import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import { listedOf, type ScoredModel } from '../http/forced-score.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import type { TokenId } from '../token-id.ts';
import { proveReuse } from './reuse-proof.ts';
import { type ServedModel, servedModelOf } from './served-model.ts';
import { slotsShape } from './server-shapes.ts';
import { proveStates, type SlotStates } from './state-proof.ts';

const WHOLE_MODEL = 'the server holds one model, whole';
/** Texts of several tokens each, that begin with different ones. */
const PROMPTS = [
  'The river runs past the old mill and the stone bridge.',
  'We met a painter in the harbour that winter.',
];

/** A server that has proven what it can do. */
export interface ProbedServer {
  readonly served: ServedModel;
  readonly slots: number;
  /** Tokens of one slot. */
  readonly slotTokens: number;
  readonly states: SlotStates | null;
  readonly scored: ScoredModel;
  readonly capabilities: Omit<EngineCapabilities, 'sessions'>;
}

/**
 * Asks a server what it is, and has it prove what it says: by a few short prompts in its first slot, which is empty afterwards.
 * @throws BenchError `bad-option` naming the flags that it was started without; `bad-model`, `unreachable`, `busy`, `protocol`
 */
export async function probeServer(
  connection: ServerConnection,
  asked: { readonly name: string; readonly file: string | undefined; readonly slotsFolder: string | undefined },
  options: CallOptions = {},
): Promise<ProbedServer> {
  const served = await servedModelOf(connection, asked, options);
  const { slotsFolder } = asked;
  await requireFlags(connection, slotsFolder, options);
  const slots = await connection.get('/slots', slotsShape, options);
  if (slots.some(({ speculative }) => speculative === true)) {
    const hint = 'start it without a draft model';
    throw new BenchError('bad-option', `${connection.url}: llama-server guesses tokens ahead`, hint);
  }
  const prompts = await served.tokenizer.tokenize(
    PROMPTS.map((text) => ({ text, as: 'text' })),
    options,
  );
  await proveReuse(connection, [prompts[0]!, prompts[1]!], options);
  const own = [prompts[0]![0]!, prompts[1]![0]!] as const;
  const { states, cells, missing } = await proveStates(connection, served, slotsFolder, own, options);
  const { vocabularySize } = served.description;
  const listed = listedOf(vocabularySize);
  return {
    served,
    slots: served.props.total_slots,
    slotTokens: served.props.default_generation_settings.n_ctx,
    states,
    scored: { vocabularySize, listed, plainToken: await plainTokenOf(served, options) },
    capabilities: {
      tokenIds: true,
      logProbabilities: { next: listed, continuation: 'steps' },
      prefixCache: { span: 'session', blockTokens: 1 },
      checkpoints: states !== null,
      cells,
      shift: false,
      firstLayers: false,
      queries: false,
      leastTokens: 2,
      exactCuts: false,
      missing: {
        ...missing,
        ...(listed === 'all'
          ? {}
          : { fullDistribution: `the server would list ${vocabularySize} probabilities as text for each token` }),
        shift: 'the server moves no tokens within a slot',
        firstLayers: WHOLE_MODEL,
        queries: WHOLE_MODEL,
      },
    },
  };
}

/** A token that is a whole text of its own. */
async function plainTokenOf({ tokenizer }: ServedModel, options: CallOptions): Promise<TokenId> {
  const [ids] = await tokenizer.tokenize([{ text: 'a', as: 'text' }], options);
  return ids!.at(-1)!;
}

/** Abilities that the adapter asks of a server, by the flag that gives each. */
async function requireFlags(
  connection: ServerConnection,
  slotsFolder: string | undefined,
  options: CallOptions,
): Promise<void> {
  const isMissing = async (call: Promise<unknown>): Promise<boolean> => {
    try {
      await call;
      return false;
    } catch (error) {
      if (error instanceof BenchError && error.code === 'unsupported') return true;
      throw error;
    }
  };
  const lacking: string[] = [];
  if (await isMissing(connection.text('/slots', options))) lacking.push('--slots');
  if (await isMissing(connection.text('/metrics', options))) lacking.push('--metrics');
  if (
    slotsFolder !== undefined &&
    (await isMissing(connection.text('/slots/0?action=erase', { ...options, body: {} })))
  ) {
    lacking.push('--slot-save-path DIR');
  }
  if (lacking.length === 0) return;
  throw new BenchError(
    'bad-option',
    `${connection.url}: llama-server was started without ${lacking.join(' and ')}`,
    'start it with --slots --metrics --cache-ram 0 --slot-save-path DIR, and --parallel slots of a whole window each',
  );
}
