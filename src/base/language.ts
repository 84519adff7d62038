/** Languages that prompts have presets for, and that metrics can tokenise. */
export type Language = 'en' | 'zh';

/** The language of a text: Chinese if it has a Han character. */
export function languageOf(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
}
