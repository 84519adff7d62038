/** Languages that the prompts are preset in, and that the metrics can tokenise. */
export type Language = 'en' | 'zh';

const HAN = /\p{Script=Han}/u;

/** The language that a text is written in, as far as these two go: one Han character makes it Chinese. */
export function languageOf(text: string): Language {
  return HAN.test(text) ? 'zh' : 'en';
}
