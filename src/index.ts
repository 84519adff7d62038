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

export { MemoryRouter, type MemoryRouterOptions, type NewMemory } from './memory/memory-router.ts';
export type { MemorySearchResult } from './memory/memory-search-result.ts';
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
export type { Arm, ItemView } from './eval/run/arms.ts';
export type { BenchHooks, Progress } from './eval/run/progress.ts';
export { resultsOfRun } from './eval/stored-results.ts';
