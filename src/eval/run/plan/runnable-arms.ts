import { BenchError, catchBenchError } from '../../../base/bench-error.ts';
import { type BenchConfig, summarisingRetrieverNames } from '../../../config/bench-config.ts';
import type { EngineInspection } from '../../../engine/engine-adapter.ts';
import type { ArmNotRun } from '../../../store/records/run-description.ts';
import type { Arm } from '../../../systems/arms/arm-registry.ts';
import { withSetting } from '../../../systems/arms/arm-name.ts';
import { type ChatEngine, openPromptForm } from '../../../systems/prompt/chat-form.ts';
import type { Suite } from '../suite.ts';

const NO_CHAT_TEMPLATE = 'the model has no chat template';
const NO_SCORES = 'its gate needs retrieval scores, and --retriever given has none';
const NO_FILES = 'its KV is read from files, and --external-kv names no folder of them';
const SUMMARISING = summarisingRetrieverNames.join(' or ');
const NO_SUMMARY = `its prompt shows a summary that only --retriever ${SUMMARISING} makes`;

/** Hints for reasons with a particular remedy; all others get `OTHER_ARMS`. */
const HINTS: ReadonlyMap<string, string> = new Map([
  [NO_CHAT_TEMPLATE, 'use the plain form of prompts, --template plain, or a model that was trained for chat'],
  [NO_FILES, 'add --external-kv FOLDER, or choose other arms, such as --arms rag,dki'],
  [NO_SUMMARY, `add --retriever ${SUMMARISING}, or choose other arms, such as --arms none,rag`],
]);
const OTHER_ARMS = 'choose other arms, such as --arms none,rag, or another model; see doctor --model';

type TemplateOption = Pick<BenchConfig, 'template'>;
type ArmOptions = TemplateOption & Pick<BenchConfig, 'retriever' | 'externalKv'>;

/** The reason why an engine with this model cannot run an arm, in one line; undefined if it can. */
export function armObstacle(
  { traits, template, requires, gated, readsSummary }: Omit<Arm, 'open'>,
  { model, missing }: EngineInspection,
  config: ArmOptions,
): string | undefined {
  if (traits.external === true && config.externalKv === undefined) return NO_FILES;
  if (gated && config.retriever === 'given') return NO_SCORES;
  if (readsSummary && !summarisingRetrieverNames.includes(config.retriever)) return NO_SUMMARY;
  if ((template ?? config.template) === 'chat' && model.chatTemplate === null) return NO_CHAT_TEMPLATE;
  return requires.map((capability) => missing[capability]).find((why) => why !== undefined);
}

/** The suite's arms, if the user names none. Those with the other prompt template need a model with a chat template. */
export function suiteArms(
  { arms, triesTemplate = [] }: Pick<Suite, 'arms' | 'triesTemplate'>,
  { model }: EngineInspection,
  { template }: TemplateOption,
): { readonly names: readonly string[]; readonly notRun: readonly ArmNotRun[] } {
  const others = triesTemplate.map((arm) => withSetting(arm, 'template', template === 'chat' ? 'plain' : 'chat'));
  return model.chatTemplate === null
    ? { names: arms, notRun: others.map((arm) => ({ arm, why: NO_CHAT_TEMPLATE })) }
    : { names: [...arms, ...others], notRun: [] };
}

/** The arms whose prompt template works. @param usesSuiteArms leaves the others out @throws BenchError `bad-model` */
export async function armsWithWorkingTemplate(
  arms: readonly Arm[],
  engine: ChatEngine,
  { template }: TemplateOption,
  usesSuiteArms: boolean,
): Promise<{ readonly arms: readonly Arm[]; readonly notRun: readonly ArmNotRun[] }> {
  const isChat = (arm: Arm): boolean => (arm.template ?? template) === 'chat';
  const form = arms.some(isChat) ? await catchBenchError(openPromptForm('chat', engine)) : undefined;
  if (!(form instanceof BenchError)) return { arms, notRun: [] };
  if (!usesSuiteArms || template === 'chat') throw form;
  const notRun = arms.filter(isChat).map(({ traits }) => ({ arm: traits.name, why: form.message }));
  return { arms: arms.filter((arm) => !isChat(arm)), notRun };
}

/** The arms that can run. @param usesSuiteArms leaves the others out, with reasons @throws BenchError `bad-model` */
export function runnableArms(
  inspection: EngineInspection,
  arms: readonly Arm[],
  config: ArmOptions & Pick<BenchConfig, 'model'>,
  usesSuiteArms: boolean,
): { readonly arms: readonly Arm[]; readonly notRun: readonly ArmNotRun[] } {
  const obstacles = arms.map((arm) => ({ arm, why: armObstacle(arm, inspection, config) }));
  const able = obstacles.flatMap(({ arm, why }) => (why === undefined ? [arm] : []));
  const notRun = obstacles.flatMap(({ arm, why }) => (why === undefined ? [] : [{ arm: arm.traits.name, why }]));
  if (notRun.length === 0 || (usesSuiteArms && able.length > 0)) return { arms: able, notRun };
  const byReason = Map.groupBy(notRun, ({ why }) => why);
  const reasons = [...byReason].map(([why, those]) => `${those.map(({ arm }) => arm).join(', ')}: ${why}`);
  const [only] = byReason.size === 1 ? byReason.keys() : [];
  const hint = only === undefined ? undefined : HINTS.get(only);
  throw new BenchError('bad-model', `${config.model} cannot run ${reasons.join('; ')}`, hint ?? OTHER_ARMS);
}

/** Refuses a suite that measures KV if the engine cannot export it. @throws BenchError `bad-model` with the reason */
export function requireMeasurable(
  model: string,
  { missing }: EngineInspection,
  { name, requires = [] }: Pick<Suite, 'name' | 'requires'>,
): void {
  const why = requires.map((capability) => missing[capability]).find((reason) => reason !== undefined);
  if (why === undefined) return;
  const message = `suite ${name} cannot measure ${model}: ${why}`;
  throw new BenchError('bad-model', message, 'choose another suite, or another model');
}
