import type { AnsweredTurn } from './stored-turn.ts';

/** What kind of question it is, as far as the data set says: `updated · held-out · recurring · zh`; else empty. */
export function kindsOfItem({ category, phrasing, userKind, language = '' }: AnsweredTurn['scores']['item']): string {
  return [category, phrasing, userKind, language].filter((kind) => kind !== '').join(' · ');
}
