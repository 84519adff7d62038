import { z } from 'zod';
import type { ModelDescription } from '../engine-info.ts';

const count = z.int().nonnegative();

/** Response of llama-server's `/props`. Optional fields are missing in older builds. */
export const propsShape = z.object({
  total_slots: count,
  model_path: z.string(),
  build_info: z.string(),
  chat_template: z.string().optional(),
  bos_token: z.string().optional(),
  eos_token: z.string().optional(),
  default_generation_settings: z.object({ n_ctx: count }),
});

export type ServerProps = z.output<typeof propsShape>;

export const modelsShape = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      /** vLLM and SGLang: longest sequence. */
      max_model_len: count.nullish(),
      /** vLLM: path or repository of the model with this name. */
      root: z.string().nullish(),
      meta: z
        .object({
          n_vocab: count,
          n_ctx_train: count,
          n_params: count,
          size: count,
          architecture: z.string().optional(),
        })
        .nullish(),
    }),
  ),
});

export type ServedModel = z.output<typeof modelsShape>['data'][number];

/** Description fields that no server shows. */
export const hiddenModelFields = {
  architecture: 'not shown by the server',
  layers: null,
  kvBytesPerToken: null,
  attention: 'not shown by the server',
  rope: null,
} as const satisfies Partial<ModelDescription>;

/** Template that llama-server reports for models without one. */
const FALLBACK_TEMPLATE =
  "{%- for message in messages -%}\n  {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}\n" +
  "{%- endfor -%}\n{%- if add_generation_prompt -%}\n  {{- '<|im_start|>assistant\n' -}}\n{%- endif -%}";

export function chatTemplate({ chat_template: template }: ServerProps): string | null {
  return template === undefined || template === '' || template === FALLBACK_TEMPLATE ? null : template;
}
