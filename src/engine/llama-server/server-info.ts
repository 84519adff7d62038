import { BenchError } from '../../base/bench-error.ts';
import type { EngineInfo } from '../engine-info.ts';
import type { EngineRequest } from '../engine-request.ts';
import type { ProbedServer } from './probed-server.ts';

/** Of a window that nobody asked for. */
export const LONGEST_DEFAULT_CONTEXT_TOKENS = 4096;

/**
 * Describes a server as it is used for a request.
 * @throws BenchError `bad-option` where it has fewer or shorter slots than are asked for, or other numbers in them
 */
export function infoOf(
  url: string,
  probed: ProbedServer,
  request: EngineRequest,
  modelSha256: string | null,
): EngineInfo {
  const { served, slotTokens, slots, states } = probed;
  const { sessions = 1, cellsPerPosition = 1, kvType } = request;
  const longest = Math.min(
    served.description.trainContextTokens,
    LONGEST_DEFAULT_CONTEXT_TOKENS,
    Math.floor(slotTokens / cellsPerPosition),
  );
  const contextTokens = request.contextTokens ?? longest;
  const cellTokens = contextTokens * cellsPerPosition;
  if (sessions > slots || cellTokens > slotTokens) {
    throw new BenchError(
      'bad-option',
      `${url}: llama-server has ${slots} slots of ${slotTokens} tokens, and ${sessions} of ${cellTokens} are needed`,
      `start it with --parallel ${sessions} --ctx-size ${sessions * cellTokens}`,
    );
  }
  if (kvType !== undefined && states !== null && states.layout.keyType !== kvType) {
    const hint = `start it with --cache-type-k ${kvType.toLowerCase()} --cache-type-v ${kvType.toLowerCase()}`;
    throw new BenchError(
      'bad-option',
      `${url}: llama-server keeps K/V in ${states.layout.keyType}, not ${kvType}`,
      hint,
    );
  }
  return {
    engine: 'llama-server',
    build: { 'llama-server': served.props.build_info },
    model: served.description,
    modelSha256,
    contextTokens,
    cellTokens,
    threads: null,
    compute: null,
    ...served.tokenizer.special,
    stateIdentity: states === null ? null : identityOf(probed, states, modelSha256),
  };
}

function identityOf(
  { served }: ProbedServer,
  { layout }: NonNullable<ProbedServer['states']>,
  sha256: string | null,
): string {
  const { name, parameters, sizeBytes } = served.description;
  const model = sha256 ?? `${name} of ${parameters} parameters in ${sizeBytes} bytes`;
  const order = layout.valuesTransposed ? 'transposed' : 'by cell';
  return `llama-server ${served.props.build_info} model ${model}, ${layout.keyType}, values ${order}`;
}
