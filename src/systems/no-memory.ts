import { RAGSystem } from './rag/rag-system.ts';
import { recallNothing } from './recall.ts';
import type { SystemParts } from './system-parts.ts';

/** The lower bound: the same prompt without any memory. */
export function noMemory(parts: SystemParts): RAGSystem {
  return new RAGSystem({ ...parts, recall: recallNothing, injectionMode: 'none' });
}
