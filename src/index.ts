/** What dki-bench offers to programs; everything else is its own affair. */
export { BenchError, type BenchErrorCode } from './config/bench-error.ts';
export type { BenchConfig } from './config/bench-config.ts';
export { loadBenchConfig, type ConfigSources } from './config/load-config.ts';

export { BenchDatabase, openDatabase, type OpenDatabaseOptions } from './db/database.ts';

export type { Embedder, EmbedderInfo } from './embedding/embedder.ts';
export { EmbeddingService, type EmbeddingServiceOptions, type EmbeddingStats } from './embedding/embedding-service.ts';
export { TransformersEmbedder } from './embedding/transformers-embedder.ts';

export type { Generation, GenerationLimits } from './llm/generation.ts';
export { LanguageModel, type LanguageModelOptions } from './llm/language-model.ts';
export type { ModelInfo } from './llm/model-info.ts';
export type { ModelSequence } from './llm/model-sequence.ts';

export { StateStore, type StateStoreStats, type StoredState } from './kv/state-store.ts';

export { MemoryRouter, type MemoryRouterOptions } from './memory/memory-router.ts';
export type { MemorySearchResult } from './memory/memory-search-result.ts';
export type { NewMemory } from './memory/new-memory.ts';
export type { Retrieval, RetrievalFlag, RetrieveOptions, Retriever } from './memory/retriever.ts';
export {
  HintedRetriever,
  type HintedOptions,
  type RetrievedRecord,
} from './memory/strategies/hinted/hinted-retriever.ts';
export { readPreRetrievalConfig } from './memory/strategies/hinted/pre-retrieval/pre-retrieval-config.ts';
export { RouterRetriever } from './memory/strategies/router/router-retriever.ts';
export type { ColdChunk, ColdHit, ColdMemory, ColdStore } from './memory/strategies/tiered/cold-store.ts';
export { formatHistorySummary, type ContextItem } from './memory/strategies/tiered/history-summary.ts';
export type { HotShelf, HotStore } from './memory/strategies/tiered/hot-store.ts';
export { InProcessHotStore } from './memory/strategies/tiered/in-process-hot-store.ts';
export type { MemoryRecord } from './memory/strategies/tiered/memory-record.ts';
export {
  MemoryRetrievalProcessor,
  type NodeContext,
  type NodeProcessor,
} from './memory/strategies/tiered/memory-retrieval-node.ts';
export { NodeEventServer } from './memory/strategies/tiered/node-event-server.ts';
export { noEvents, type NodeEvent, type NodeEventStream } from './memory/strategies/tiered/node-events.ts';
export { PostgresColdStore, type PostgresColdStoreOptions } from './memory/strategies/tiered/postgres-cold-store.ts';
export { connectPostgres, type PostgresConnection } from './memory/strategies/tiered/postgres-connection.ts';
export { postgresIndexes, type PostgresIndex } from './memory/strategies/tiered/postgres-index.ts';
export { RedisHotStore } from './memory/strategies/tiered/redis-hot-store.ts';
export { SqliteColdStore } from './memory/strategies/tiered/sqlite-cold-store.ts';
export { TieredMemory, type TieredMemoryParts, type TieredQuery } from './memory/strategies/tiered/tiered-memory.ts';
export { TieredRetriever, type TieredRetrieverParts } from './memory/strategies/tiered/tiered-retriever.ts';
export { SalienceRetriever, type SalienceOptions } from './memory/strategies/salience/salience-retriever.ts';
export { chooseVectorBackend, type VectorBackendChoice } from './memory/vector-backend.ts';

export type { BenchSystem } from './systems/bench-system.ts';
export type {
  AddMemoryOptions,
  Budget,
  ChatRequest,
  ChatResponse,
  DroppedPart,
  MemorySystem,
  PromptInfo,
  PromptSegment,
  SearchOptions,
  SystemStats,
  Timings,
  TokenCounts,
} from './systems/contracts.ts';
export { DatabaseConversationLog, type ConversationLog, type TurnRecord } from './systems/conversation-log.ts';
export { DKISystem, type DKISystemParts } from './systems/dki/dki-system.ts';
export { type InjectionMode, linkMode } from './systems/dki/injection-mode.ts';
export { fullContext } from './systems/full-context.ts';
export { MemoryKeeper } from './systems/memory-keeper.ts';
export { noMemory } from './systems/no-memory.ts';
export { oracle } from './systems/oracle.ts';
export type { HistoryMessage, LabelStyle, Segment, SegmentRole } from './systems/prompt/segments.ts';
export { RAGSystem, type RAGSystemParts } from './systems/rag/rag-system.ts';
export type { Recall, Recalled } from './systems/recall.ts';
export type { SystemParts } from './systems/system-parts.ts';

export { runBench } from './eval/bench-run.ts';
export { readDataset } from './eval/dataset/reader.ts';
export type { Dataset, DatasetItem, DatasetMemory, DatasetUser } from './eval/dataset/dataset.ts';
export type {
  ArmResults,
  Comparison,
  Estimate,
  GateNotRun,
  GateResult,
  RunDescription,
  RunResults,
} from './eval/results.ts';
export type { ArmDefinition, ItemView } from './eval/run/arms.ts';
export type { BenchHooks, Progress } from './eval/run/progress.ts';
export { resultsOfRuns } from './eval/stored-results.ts';
