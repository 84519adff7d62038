import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { answerLead, answerPrefixSegments, type FormName } from './answer-prefix.ts';

/** The way in which a prompt opens the answer. */
export interface AnswerOpening {
  readonly form: FormName;
  /** The beginning of the answer that the model was given; empty without one. */
  readonly prefix: string;
  /** Tokens of that beginning, the last of the prompt. */
  readonly prefixTokens: number;
}

/** A place where an answer may be scored: what stands in front of it, and its ids there. */
export interface AnswerPlace {
  /** In place of the suffix of the turn. */
  readonly suffix: readonly TokenId[];
  /** The tokens by which the model would write it there. */
  readonly answer: readonly TokenId[];
}

/**
 * The places of an answer: behind the prompt as the model was asked, and behind the item's own prefix in place of the run's,
 * where every answer is about the fact alone. One object where the item has no prefix of its own, or was asked with it.
 */
export async function answerPlaces(
  { suffix, opening }: { readonly suffix: readonly TokenId[]; readonly opening: AnswerOpening },
  { answer, ownPrefix }: { readonly answer: string; readonly ownPrefix?: string | null | undefined },
  engine: Pick<Engine, 'tokenize'>,
): Promise<{ readonly asked: AnswerPlace; readonly own: AnswerPlace }> {
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
