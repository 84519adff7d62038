import { armNames } from '../config/arm-name.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { armsNamed } from '../eval/run/arms.ts';
import { armObstacle } from '../eval/run/model-ability.ts';
import { readGgufHeader } from '../llm/gguf-header.ts';
import { kvBytesPerToken, kvTypes } from '../llm/kv-bytes.ts';
import { modelFileOf } from '../llm/model-file.ts';
import type { GgufHeader } from '../llm/model-info.ts';
import { printable } from '../report/render/printable.ts';
import { coloured, type Page } from '../report/render/terminal.ts';
import { padText, wrapText } from '../report/render/text-width.ts';

/** What the file of a model says that it can do here; its weights are not read. */
export interface ModelAbilities {
  readonly name: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly trainContextTokens: number;
  readonly rope: Pick<GgufHeader['rope'], 'base' | 'scaling' | 'frequencyScale'>;
  readonly hasChatTemplate: boolean;
  readonly stopTokens: GgufHeader['stopTokens'];
  /** Of one token of a memory in all layers, by what keys and values are kept in. */
  readonly kvBytesPerToken: Readonly<Record<(typeof kvTypes)[number], number>>;
  /** Every arm, with what keeps the model from running it; null where nothing does. */
  readonly arms: readonly { readonly arm: string; readonly obstacle: string | null }[];
}

const INDENT = 15;

/** @throws BenchError `bad-model` where the file says too little */
export async function modelAbilities(config: Pick<BenchConfig, 'model' | 'template'>): Promise<ModelAbilities> {
  const header = await readGgufHeader(await modelFileOf(config.model));
  const { name, architecture, parameters, trainContextTokens, rope, stopTokens } = header;
  const arms = armsNamed(armNames, { alpha: 1, gatingThreshold: 0 });
  return {
    name,
    architecture,
    parameters,
    trainContextTokens,
    rope: { base: rope.base, scaling: rope.scaling, frequencyScale: rope.frequencyScale },
    hasChatTemplate: header.chatTemplate !== undefined,
    stopTokens,
    kvBytesPerToken: { f16: kvBytesPerToken(header, 'f16'), q8_0: kvBytesPerToken(header, 'q8_0') },
    arms: arms.map((arm) => ({ arm: arm.name, obstacle: armObstacle(arm, header, config) ?? null })),
  };
}

/** The abilities as lines for a terminal. */
export function abilitiesText(abilities: ModelAbilities, page: Page): string {
  const { name, architecture, parameters, trainContextTokens, rope, hasChatTemplate, stopTokens, arms } = abilities;
  const scale = rope.scaling === 'none' ? 'not scaled' : `${rope.scaling} scaling by ${1 / rope.frequencyScale}`;
  const facts: readonly (readonly [string, string])[] = [
    ['model', `${name}, ${architecture}, ${(parameters / 1e6).toFixed(1)} M parameters`],
    ['window', `${trainContextTokens} tokens, as it was trained`],
    ['positions', `RoPE of base ${rope.base}, ${scale}`],
    [
      'chat',
      hasChatTemplate ? 'a chat template of its own: --template chat' : 'no chat template: --template plain alone',
    ],
    ['stops at', stopTokens.map(({ id, text }) => `${text} (${id})`).join(', ') || 'nothing that its file names'],
    [
      'K/V',
      `${kvTypes.map((type) => `${abilities.kvBytesPerToken[type]} bytes in ${type}`).join(', ')}, a memory token`,
    ],
  ];
  const able = arms.filter(({ obstacle }) => obstacle === null).map(({ arm }) => arm);
  const obstacles = [...new Set(arms.flatMap(({ obstacle }) => obstacle ?? []))];
  const lines = [
    ...facts.flatMap(([label, text]) => entry(' ', label, text, page)),
    ...(able.length === 0 ? [] : entry(coloured('✓', 'green', page), 'runs', able.join(', '), page)),
    ...obstacles.flatMap((obstacle) => {
      const names = arms.filter((arm) => arm.obstacle === obstacle).map(({ arm }) => arm);
      return entry(coloured('✗', 'red', page), 'cannot run', `${names.join(', ')}: ${obstacle}`, page);
    }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function entry(mark: string, label: string, text: string, page: Page): string[] {
  const [first = '', ...rest] = wrapText(printable(text), page.width - INDENT);
  return [`${mark} ${padText(label, INDENT - 2)}${first}`, ...rest.map((line) => ' '.repeat(INDENT) + line)];
}
