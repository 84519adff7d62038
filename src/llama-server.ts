/// <reference types="node" preserve="true" />
/**
 * An engine on a llama-server, and `joinBlocks`. Loads neither the bench nor llama.cpp.
 *
 * @module dki-bench/llama-server
 */
import { requireMinimumNode } from './base/minimum-node-version.ts';
import { servedModel } from './config/bench-config.ts';
import type { EngineRequest } from './engine/engine-adapter.ts';
import type { Engine } from './engine/engine.ts';
import { llamaServer, type LlamaServerOptions } from './engine/llama-server/llama-server-adapter.ts';

export { BenchError, type BenchErrorCode } from './base/bench-error.ts';
export type { Checkpoint, EngineSession, Generation, GenerationLimits } from './engine/engine-session.ts';
export type { EngineCapabilities } from './engine/engine-capabilities.ts';
export type { Engine } from './engine/engine.ts';
export type { SequenceState } from './engine/sequence-state.ts';
export { type BlockPlacement, contiguousPositions, joinBlocks, type JoinOptions } from './kv/join-blocks.ts';

requireMinimumNode();

/** Options of `openLlamaServer`. */
export interface ServerRequest extends LlamaServerOptions, Omit<EngineRequest, 'model'> {
  /** The GGUF file that the server was started with; KV can be exported and imported only if it is given. */
  readonly model?: string;
}

/**
 * Connects to a running llama-server (`engineUrl`; with `slotsFolder` to export and import KV), or starts one (`llamaServer`, the
 * program). First tests that the server reuses the KV of its slots and no other cache, and that it reuses a restored slot.
 *
 * @throws BenchError `bad-option` naming the flags that the server lacks; `unreachable`, `busy`, `protocol`, `bad-model`
 * @example
 * await using engine = await openLlamaServer({ engineUrl: 'http://127.0.0.1:8080', sessions: 2 });
 * await using session = await engine.openSession('user-1');
 */
export function openLlamaServer({ model = servedModel, ...request }: ServerRequest): Promise<Engine> {
  const { engineUrl, allowRemote, slotsFolder, llamaServer: program, ...sizes } = request;
  return llamaServer.opener({ engineUrl, allowRemote, slotsFolder, llamaServer: program }).open({ model, ...sizes });
}
