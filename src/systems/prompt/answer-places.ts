import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { answerLead, answerPrefixSegments } from './answer-prefix.ts';
import type { FormName } from './prompt-form.ts';

export interface AnswerOpening {
  readonly form: FormName;
  readonly prefix: string;
  /** Tokens of that beginning, the last of the prompt. */
  readonly prefixTokens: number;
}

export interface AnswerPlace {
  /** In place of the suffix of the turn. */
  readonly suffix: readonly TokenId[];
  /** The tokens by which the model would write the answer there. */
  readonly answer: readonly TokenId[];
}

/** The places of an answer: behind the turn's prompt, and behind the item's own prefix; one object where they are one. */
export async function answerPlaces(
  { suffix, opening }: { readonly suffix: readonly TokenId[]; readonly opening: AnswerOpening },
  { answer, ownPrefix }: { readonly answer: string; readonly ownPrefix?: string | null | undefined },
  engine: Pick<Engine, 'tokenize'>,
): Promise<Record<'asked' | 'own', AnswerPlace>> {
  const { form, prefix, prefixTokens } = opening;
  const own = ownPrefix?.trim() ?? prefix;
  const texts = [
    `${answerLead(form, prefix, answer)}${answer}`,
    `${answerLead(form, own, answer)}${answer}`,
    ...answerPrefixSegments(form, own).map(({ text }) => text),
  ];
  const [behindPrefix = [], behindOwn = [], ownIds = []] = await engine.tokenize(
    texts.map((text) => ({ text, as: 'text' })),
  );
  const asked = { suffix, answer: behindPrefix };
  if (own === prefix) return { asked, own: asked };
  return { asked, own: { suffix: [...suffix.slice(0, suffix.length - prefixTokens), ...ownIds], answer: behindOwn } };
}
