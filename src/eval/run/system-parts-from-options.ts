import type { BenchConfig } from '../../config/bench-config.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SystemParts } from '../../systems/answer-turn.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { PromptRules } from '../../systems/prompt/build-prompt.ts';
import type { LoadedModels } from './loaded-models.ts';

export function promptRules(config: BenchConfig): Omit<PromptRules, 'windowTokens'> {
  const { placement, labels, template, systemPrompt, answerPrefix, reserve, historyTurns } = config;
  const use = answerPrefix === 'none' || answerPrefix === 'item' ? answerPrefix : 'general';
  return {
    placement,
    labels,
    template,
    systemPrompt,
    answerPrefix: { general: config.generalAnswerPrefix, use },
    ...(reserve === undefined ? {} : { reserveTokens: reserve }),
    ...(historyTurns === undefined ? {} : { historyTurns }),
  };
}

export function systemParts(
  { engine }: Pick<LoadedModels, 'engine'>,
  session: EngineSession,
  config: BenchConfig,
  memories: MemoryKeeper,
): SystemParts {
  return {
    open: () => Promise.resolve({ engine, session }),
    memories,
    log: null,
    rules: promptRules(config),
    topK: config.topK,
    threshold: config.threshold,
    ...(config.externalKv === undefined ? {} : { externalKv: config.externalKv }),
    // Warnings are already recorded in each turn's budget.
    warn: () => undefined,
  };
}
