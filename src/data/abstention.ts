import { knownLanguage, type Language } from '../base/language.ts';
import { splitSentences } from '../base/sentence-boundaries.ts';
import { normalise } from './normalise-text.ts';

const NOT = "(?:(?:do|did|have|has|is|was|were|are|can|could)(?: not|n'?t)|can(?:no|')t|never|have never)";
const NOTICED = '(?:mention|specif|stat|provid|disclos|shar|said|say|indicat|contain|includ|reveal)\\p{L}*';
const RECORD = '(?:information|info|mention|records?|memory|memories|data|details?|context|evidence|access)';

/**
 * `opening`: an apology, or what the answer is based on. `hedge`: takes the refusal back. `request`: a sentence that asks the user
 * for more.
 */
const rules = {
  en: {
    opening:
      /^(?:(?:(?:i'?m |i am )?(?:very |so |really )?(?:sorry|afraid)|i apologi[sz]e|unfortunately|hmm|as an? (?:ai|language)[^,]*|(?:based on|according to|from) [^,]*)[,.!]? (?:but )?)+/u,
    refusals: [
      `(?:i|we) (?:\\p{L}+ )?(?:${NOT}|am not|'m not) (?:\\p{L}+ly |yet |been )?(?:know|remember|recall|sure|certain|aware|told|able to|answer|tell|say|determine|confirm|find|found|talked about|discussed|(?:have|see) (?:\\p{L}+ ){0,3}${RECORD})`,
      `i(?:'m| am)(?: not|n't) (?:sure|certain|aware|able to)|i(?:'m| am) unable to`,
      `(?:i have |there is |there are |there's )?no (?:\\p{L}+ )?(?:idea|${RECORD})(?! (?:is|are)\\b)`,
      `you (?:\\p{L}+ )?${NOT} (?:\\p{L}+ly |yet |ever )?(?:(?:told|tell|given|give) (?:me|us)|${NOTICED})`,
      `(?:\\p{L}+ ){0,3}(?:memories|memory|conversations?|context|information|texts?|notes|records?|messages?) ${NOT} (?:\\p{L}+ly )?(?:tell|say|${NOTICED})`,
      `[^,;]*\\b(?:(?:is|are|was|were)(?: not|n't)|has not been|have not been) (?:\\p{L}+ )?(?:mentioned|specified|stated|provided|known|disclosed)(?: (?:in|by|from|anywhere|here|yet)\\b[^,;]*)?$`,
      `[^,;]*\\b(?:answer|information|it|that) (?:is|remains) (?:unknown|unclear)$`,
      `(?:it|this|that)(?: is|'s) (?:not possible|impossible) to`,
      `(?:unknown|n/a|not (?:sure|known|mentioned|specified|stated|provided)(?: in [^,;]*)?)$`,
    ].map((pattern) => new RegExp(`^(?:${pattern})(?![\\p{L}\\p{N}])`, 'u')),
    hedge: /\b(?:but|however|maybe|perhaps|probably|possibly|though|i (?:think|believe|guess|assume))\b/u,
    request: /^(?:(?:could|can|would|will) you|please|if you|let me know|feel free|what)\b/u,
  },
  zh: {
    opening:
      /^(?:(?:(?:很|非常|十分|真的?)?(?:抱歉|对不起|對不起|不好意思|遗憾)|(?:根据|根據|基于|按照)[^,]*|作为[^,]*)[,.。!]? ?(?:但是?)?)+/u,
    refusals: [
      /^(?:我们?)?(?:也|还|還|真的|并|並|目前|暂时|实在|确实|其实)*(?:不(?:太|是很|大)?|无法|無法|不能|没法|没办法)(?:知道|清楚|确定|確定|记得|記得|晓得|曉得|了解|得知|回答|确认|判断)/u,
      /^[^,]{0,10}(?:没有?|沒有?|无|無|[查找]不到)[^,]{0,12}(?:信息|資訊|资料|資料|记录|記錄|内容|数据|记忆)$/u,
      /^(?:[^,]{0,8}[中里])?(?:你|您)?(?:也|还|還|从|并|並|从来)*(?:没有?|沒有?|未曾?)(?:跟我|对我|向我)?(?:告诉过?我|告訴過?我|提到|提及|提过|提供|说过|說過|说明|透露|分享)/u,
      /^(?:未知|不详|不明|未提及|未说明)$/u,
    ],
    hedge: /但|不过|也许|可能|大概|或许|估计|好像|似乎|应该是|吧$/u,
    request: /^(?:请|您?能|你能|可以|如果|需要)/u,
  },
};

/**
 * True if the answer is the data set's text for "unknown", or refuses: each sentence, behind an apology, begins with a refusal or
 * asks the user for more, and none takes it back.
 */
export function isAbstention(answer: string, unknownAnswer: string, language: Language): boolean {
  const form = normalise(answer, language);
  if (form === '') return false;
  if (form === normalise(unknownAnswer, language)) return true;
  const known = knownLanguage(language);
  if (known === undefined) return false;
  const { opening, refusals, hedge, request } = rules[known];
  const text = answer.normalize('NFKC').toLowerCase().replaceAll('’', "'").replace(/\s+/gu, ' ').trim();
  const [first = '', ...more] = splitSentences(text.replace(/^\P{L}+/u, '').replace(opening, '')).map((sentence) =>
    sentence.replace(/[^\p{L}\p{N}]+$/u, ''),
  );
  const refuses = (sentence: string): boolean =>
    !hedge.test(sentence) && refusals.some((refusal) => refusal.test(sentence));
  return refuses(first) && more.every((sentence) => sentence === '' || refuses(sentence) || request.test(sentence));
}
