/// <reference types="node" preserve="true" />
/**
 * The public interface of dki-bench; everything else is internal.
 *
 * @module dki-bench
 */
import { requireMinimumNode } from './base/minimum-node-version.ts';

export { openSystem, type OpenedSystem, type OpenSystemOptions } from './bench/open-memory-system.ts';
export { adapterNamed, adapters } from './bench/select-engine.ts';
export { runBench } from './bench/run-bench.ts';

export { BenchError, type BenchErrorCode } from './base/bench-error.ts';
export type { BenchConfig } from './config/bench-config.ts';
export { loadBenchConfig, type ConfigSources } from './bench/load-config.ts';

export { type BenchDatabase, openDatabase, type OpenDatabaseOptions } from './store/database.ts';

export type { Embedder, EmbedderInfo } from './models/embedding/embedder.ts';
export {
  EmbeddingService,
  type EmbeddingServiceOptions,
  type EmbeddingStats,
} from './models/embedding/embedding-service.ts';
export { TransformersEmbedder } from './models/embedding/transformers-embedder.ts';

export type {
  CallOptions,
  Checkpoint,
  CheckpointOptions,
  EngineSession,
  Generation,
  GenerationLimits,
} from './engine/engine-session.ts';
export type { EngineAdapter, EngineInspection, EngineOpener, EngineRequest } from './engine/engine-adapter.ts';
export type { CapabilityName, EngineCapabilities } from './engine/engine-capabilities.ts';
export type { EngineInfo, ModelDescription } from './engine/engine-info.ts';
export type { Engine, TokenizeRequest } from './engine/engine.ts';
export type { KvLayout, Rotary, SequenceState } from './engine/sequence-state.ts';
export type { NextDistribution, SequenceScore } from './engine/sequence-score.ts';
export type { TokenId, TokenRange } from './engine/token-id.ts';
export type { TokenMeter } from './engine/token-meter.ts';

export {
  type BlockDisk,
  BlockStore,
  type BlockStoreStats,
  type DiskTiming,
  type FoundBlock,
  openBlockStore,
} from './kv/block-store.ts';
export { cutCells } from './kv/cut-cells.ts';
export { type BlockPlacement, contiguousPositions, joinBlocks, type JoinOptions } from './kv/join-blocks.ts';
export { kvKey } from './kv/kv-key.ts';
export { type CheckpointKeeper, KvStore, type KvStoreStats } from './kv/kv-disk-store.ts';
export type { RotatedKeyCache } from './kv/rotated-key-cache.ts';

export { formatHistorySummary } from './retrieval/format-history-summary.ts';
export { MemoryRouter, type MemoryRouterOptions, RouterRetriever } from './retrieval/similarity/memory-router.ts';
export type { Retrieval, RetrievalFlag, RetrievalSummary, RetrieveOptions, Retriever } from './retrieval/retriever.ts';
export type { MemorySearchResult, NewMemory, SearchOptions } from './retrieval/retriever.ts';
export { GivenRetriever } from './retrieval/given-retriever.ts';
export type { RetrieverDefinition } from './retrieval/open-retriever.ts';
export { HintedRetriever, type HintedOptions, type RetrievedRecord } from './retrieval/hinted/hinted-retriever.ts';
export { readPreRetrievalConfig } from './retrieval/hinted/pre-retrieval/pre-retrieval-config.ts';
export { SalienceRetriever, type SalienceOptions } from './retrieval/salience/salience-retriever.ts';
export type { ColdChunk, ColdHit, ColdMemory, ColdStore } from './retrieval/tiered/cold-store.ts';
export type { ContextItem } from './retrieval/tiered/tiered-memory.ts';
export { type HotShelf, type HotStore, InProcessHotStore } from './retrieval/tiered/hot-store.ts';
export type { MemoryRecord } from './retrieval/tiered/memory-record.ts';
export {
  MemoryRetrievalProcessor,
  type NodeContext,
  type NodeEvent,
  type NodeEventStream,
  type NodeProcessor,
  noEvents,
} from './retrieval/tiered/workflow-node/memory-retrieval-processor.ts';
export { NodeEventServer } from './retrieval/tiered/workflow-node/node-event-server.ts';
export { PostgresColdStore, type PostgresColdStoreOptions } from './retrieval/tiered/postgres-cold-store.ts';
export { connectPostgres, type PostgresConnection } from './retrieval/tiered/postgres-cold-store.ts';
export { postgresIndexes, type PostgresIndex } from './retrieval/tiered/postgres-schema.ts';
export { RedisHotStore } from './retrieval/tiered/redis-hot-store.ts';
export { SqliteColdStore } from './retrieval/tiered/sqlite-cold-store.ts';
export { TieredMemory, type TieredMemoryParts, type TieredQuery } from './retrieval/tiered/tiered-memory.ts';
export { TieredRetriever, type TieredRetrieverParts } from './retrieval/tiered/tiered-retriever.ts';
export { chooseVectorBackend, type VectorBackendChoice } from './retrieval/vectors/choose-vector-backend.ts';

export type { ArmDefinition, ArmParts, OwnTraits } from './systems/arms/arm-definition.ts';
export { type Arm, ArmRegistry, armRegistry } from './systems/arms/arm-registry.ts';
export type {
  AddMemoryOptions,
  BenchSystem,
  ChatRequest,
  ChatResponse,
  MemorySystem,
  RetrievedMemories,
  SystemStats,
  TurnTrace,
} from './systems/memory-system.ts';
export { ConversationLog } from './systems/conversation-log.ts';
export { DKISystem, type DKISystemParts } from './systems/dki-system.ts';
export { MemoryKeeper } from './systems/memory-keeper.ts';
export type { ArmStore, OpenStore } from './systems/prefill/prefill-strategy.ts';
export type { JoinRecipe } from './systems/prefill/join-recipe.ts';
export type { Prefilled, PrefillStrategy, TurnContext } from './systems/prefill/prefill-strategy.ts';
export { RAGSystem, type RAGSystemParts } from './systems/rag-system.ts';
export type { OpenEngine, SystemParts } from './systems/answer-turn.ts';

export { readDataset } from './data/read-dataset.ts';
export type { Dataset, DatasetItem, DatasetMemory, DatasetUser } from './data/dataset.ts';
export type { BenchHooks, Progress } from './eval/run/bench-hooks.ts';
export type { MetricDefinition } from './eval/analysis/metrics/built-in-metrics.ts';
export { registerMetric } from './eval/analysis/metrics/metric-selection.ts';
export { resultsOfRuns } from './eval/analysis/results-from-stored-turns.ts';

export type { ArmTraits } from './store/records/arm-traits.ts';
export type { Budget, DroppedPart, HistoryMessage, PromptInfo, PromptSegment } from './store/records/prompt-info.ts';
export type { ArmResults, CheckResult, Comparison, RunResults } from './store/records/run-results.ts';
export type { Estimate } from './store/records/estimate.ts';
export type { RunDescription } from './store/records/run-description.ts';
export type { RunRecord } from './store/records/run-record.ts';
export type { AnsweredTurn, FailedTurn, Timings, TokenCounts, TurnRecord } from './store/records/turn-record.ts';

requireMinimumNode();
