import { parseArmName, withSetting } from '../../config/arm-name.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import { kvSupport } from '../../llm/model-check.ts';
import type { GgufHeader } from '../../llm/model-info.ts';
import { type ChatModel, promptFormOf } from '../../systems/prompt/chat-form.ts';
import type { Suite } from '../suites/suite.ts';
import type { Arm, ArmTraits } from './arms.ts';

/** What a model lacks that prompts in its own chat form need. */
const NO_CHAT_TEMPLATE = 'the model has no chat template';

/** An arm of a suite that did not run, and the reason in one line. */
export interface ArmNotRun {
  readonly arm: string;
  readonly why: string;
}

/** Why a model cannot run an arm, in one line; undefined where it can. */
export function armObstacle(
  { name, injects }: Pick<ArmTraits, 'name' | 'injects'>,
  header: GgufHeader,
  { template }: Pick<BenchConfig, 'template'>,
): string | undefined {
  const { base, settings } = parseArmName(name) ?? {};
  if ((settings?.template ?? template) === 'chat' && header.chatTemplate === undefined) return NO_CHAT_TEMPLATE;
  if (injects === 'nothing' && base !== 'rag-cached') return undefined;
  const support = kvSupport(header);
  return support.supported ? undefined : support.reason;
}

/**
 * The arms of a suite where nobody names others. Those that try the other form of prompts have the one that the run has
 * not; they do not run where the model has none of its own.
 */
export function armsOfSuite(
  { arms, triesTemplate = [] }: Pick<Suite, 'arms' | 'triesTemplate'>,
  header: GgufHeader,
  { template }: Pick<BenchConfig, 'template'>,
): { readonly names: readonly string[]; readonly notRun: readonly ArmNotRun[] } {
  const others = triesTemplate.map((arm) => withSetting(arm, 'template', template === 'chat' ? 'plain' : 'chat'));
  return header.chatTemplate === undefined
    ? { names: arms, notRun: others.map((arm) => ({ arm, why: NO_CHAT_TEMPLATE })) }
    : { names: [...arms, ...others], notRun: [] };
}

/**
 * The arms whose form of prompts the loaded model can be given: its own chat template may be one that cannot be used.
 * @param isSuites whether nobody named the arms: then those are left out, and say why
 * @throws BenchError `bad-model` where the run itself, or an arm that somebody named, needs that template
 */
export function armsWithForms(
  arms: readonly Arm[],
  model: ChatModel,
  { template }: Pick<BenchConfig, 'template'>,
  isSuites: boolean,
): { readonly arms: readonly Arm[]; readonly notRun: readonly ArmNotRun[] } {
  const isChat = ({ name }: Arm): boolean => (parseArmName(name)?.settings.template ?? template) === 'chat';
  if (!arms.some(isChat)) return { arms, notRun: [] };
  try {
    promptFormOf('chat', model);
    return { arms, notRun: [] };
  } catch (error) {
    if (!(error instanceof BenchError) || !isSuites || template === 'chat') throw error;
    const notRun = arms.filter(isChat).map(({ name }) => ({ arm: name, why: error.message }));
    return { arms: arms.filter((arm) => !isChat(arm)), notRun };
  }
}

/** @throws BenchError `bad-model` naming the arms that a model cannot run, before its weights are read */
export function requireAbility(
  path: string,
  header: GgufHeader,
  arms: readonly ArmTraits[],
  config: Pick<BenchConfig, 'template'>,
): void {
  const obstacles = arms.map((arm) => ({ name: arm.name, why: armObstacle(arm, header, config) }));
  const first = obstacles.find(({ why }) => why !== undefined)?.why;
  if (first === undefined) return;
  const names = obstacles.filter(({ why }) => why === first).map(({ name }) => name);
  throw new BenchError(
    'bad-model',
    `${path} cannot run ${names.join(', ')}: ${first}`,
    first === NO_CHAT_TEMPLATE
      ? 'use the plain form of prompts, --template plain, or a model that was trained for chat'
      : 'choose other arms, such as --arms none,rag, or another model; see doctor --model',
  );
}
