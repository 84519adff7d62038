import type { BenchConfig } from '../../config/bench-config.ts';
import { LanguageModel } from '../../llm/language-model.ts';
import { modelFileOf } from '../../llm/model-file.ts';
import type { ModelRoom } from '../synthesis/dataset-generator.ts';

/** The room that a loaded model gives data. */
export function roomOf(model: LanguageModel): ModelRoom {
  return {
    windowTokens: model.info.contextTokens,
    countTokens: (text) => model.tokenizeText(text).length,
  };
}

/** Opens the model of a configuration for as long as data are made that have to fit it. */
export async function inModelRoom<T>(
  { model: name, contextTokens }: Pick<BenchConfig, 'model' | 'contextTokens'>,
  use: (room: ModelRoom) => T | Promise<T>,
): Promise<T> {
  await using model = await LanguageModel.load({
    modelPath: await modelFileOf(name),
    ...(contextTokens === undefined ? {} : { contextTokens }),
  });
  return await use(roomOf(model));
}
