const HAN = '\\p{Script=Han}';
/** The hundred most common surnames, and those of two characters. */
const SURNAMES =
  '欧阳|上官|司马|诸葛|慕容|[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁' +
  '任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤]';
/** Words that can stand before and after a name; so can the edges of a run of Chinese characters. */
const BEFORE = '是叫和与跟给对找向请';
const AFTER = '的是在和与跟说住也都';

/** A name introduced by "is called" or "the name is": 叫墨团, 名字是陈晓梅. */
const called = new RegExp(`(?:叫[做作]?|名字是|名为)(${HAN}{2,6}?)(?=[${AFTER}]|(?!${HAN})|$)`, 'gu');
/** A title or a name in quotation marks. */
const quoted = new RegExp(`[「『“《](${HAN}{2,12})[」』”》]`, 'gu');
/** A surname and a given name between such words or edges. */
const person = new RegExp(`(?<=[${BEFORE}]|(?<!${HAN}))((?:${SURNAMES})${HAN}{1,2}?)(?=[${AFTER}]|(?!${HAN})|$)`, 'gu');

/** Ordinary words that these rules would take for names. */
const words = new Set(
  '什么 哪里 周末 白天 白色 黄色 金色 高中 高兴 马上 方法 方面 万一 平时 安全 时间 于是 任务 任何 成功 江南 石头 毛病 程度 许多 何时 向来'.split(
    ' ',
  ),
);

/**
 * Finds names in a Chinese text, each once: after "is called", in quotation marks, and persons by surname and given name.
 * Chinese has no capitals, so other names are missed.
 */
export function findChineseNames(text: string): string[] {
  const found = [called, quoted, person].flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!));
  return [...new Set(found)].filter((name) => !words.has(name));
}
