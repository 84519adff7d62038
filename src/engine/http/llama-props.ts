import { z } from 'zod';

/** Fields of a llama-server's `/props` that are read; builds add fields, and older ones lack some. */

const count = z.int().nonnegative();

export const propsShape = z.object({
  total_slots: count,
  model_path: z.string(),
  model_alias: z.string().optional(),
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
      meta: z
        .looseObject({
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

/** The template that a server shows for a model without one. */
const FALLBACK_TEMPLATE =
  "{%- for message in messages -%}\n  {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}\n" +
  "{%- endfor -%}\n{%- if add_generation_prompt -%}\n  {{- '<|im_start|>assistant\n' -}}\n{%- endif -%}";

/** In place of what a server does not show of its model. */
export const NOT_SHOWN = 'not shown by the server';

/** The model's own chat template; null where it has none. */
export function chatTemplateOf({ chat_template: template }: Pick<ServerProps, 'chat_template'>): string | null {
  return template === undefined || template === '' || template === FALLBACK_TEMPLATE ? null : template;
}
