import { z } from 'zod';
import { readMetadata, type StoredMemory } from '../memory-vector-index.ts';
import { textTerms } from '../text-terms.ts';

const MIN_NAME_LENGTH = 3;
/** A name makes no links if it is in more memories than this and than the square root of the number of memories. */
const MAX_SHARING = 8;

/** A word with a capital at its start, or behind a Chinese character: Chinese writes no space before a foreign name. */
const capitalised = /(?<!(?!\p{Script=Han})[\p{L}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}]*/gu;

/** Reads `metadata.links`. @throws BenchError `bad-data` if it is not a list of ids */
export function listedLinks(memory: StoredMemory): readonly string[] {
  const expected = 'a list of ids such as ["m1"]';
  return readMetadata(memory, 'links', z.array(z.string(expected), expected).nullish()) ?? [];
}

/**
 * Links between memories: those that contain the same name, and those that `metadata.links` lists. A name is a word that
 * is capitalised in the middle of some text, or in Chinese a result of `findChineseNames`; the fewer memories
 * contain it, the stronger the link. Texts in other languages without capitals have listed links only.
 */
export class MemoryLinks {
  /** By id: terms that may be names, the text if it is Chinese, and listed links. */
  readonly #memories = new Map<string, { terms: ReadonlySet<string>; chinese: string; listed: readonly string[] }>();
  /** Ids of memories by term. */
  readonly #holders = new Map<string, Set<string>>();
  /** Terms that were written as a name; they stay known after their last memory is removed. */
  readonly #names = new Set<string>();
  readonly #chineseNames = new Set<string>();

  add(memory: StoredMemory): void {
    const { memoryId, content } = memory;
    const terms = new Set(textTerms(content).filter((term) => term.length >= MIN_NAME_LENGTH));
    const text = content.normalize('NFKC');
    const chinese = /\p{Script=Han}/u.test(text) ? text : '';
    this.#memories.set(memoryId, { terms, chinese, listed: listedLinks(memory) });
    for (const { 0: word, index } of content.matchAll(capitalised)) {
      // The first word of a text has a capital in any case.
      if (index === 0) continue;
      for (const term of textTerms(word)) this.#names.add(term);
    }
    for (const term of terms) this.#holders.set(term, (this.#holders.get(term) ?? new Set()).add(memoryId));
    for (const name of findChineseNames(chinese)) this.#chineseNames.add(name);
  }

  remove(memoryId: string): void {
    for (const term of this.#memories.get(memoryId)?.terms ?? []) this.#holders.get(term)!.delete(memoryId);
    this.#memories.delete(memoryId);
  }

  /** Strengths of links by id of the linked memory: 1 for a listed link, and for a name in only these two memories. */
  strengths(memoryId: string): Map<string, number> {
    const strengths = new Map<string, number>();
    const strengthen = (id: string, strength: number): void => {
      if (id !== memoryId) strengths.set(id, Math.max(strength, strengths.get(id) ?? 0));
    };
    const { terms, chinese, listed } = this.#memories.get(memoryId)!;
    const shared: (readonly string[])[] = [
      ...[...terms].filter((term) => this.#names.has(term)).map((term) => [...this.#holders.get(term)!]),
      ...[...this.#chineseNames].filter((name) => chinese.includes(name)).map((name) => this.#withChinese(name)),
    ];
    const all = this.#memories.size;
    const most = Math.max(MAX_SHARING, Math.sqrt(all));
    for (const holders of shared) {
      if (holders.length < 2 || holders.length > most) continue;
      for (const id of holders) strengthen(id, rarity(holders.length, all));
    }
    for (const id of listed) if (this.#memories.has(id)) strengthen(id, 1);
    return strengths;
  }

  /** Ids of the memories that contain a Chinese name. */
  #withChinese(name: string): readonly string[] {
    return [...this.#memories].filter(([, { chinese }]) => chinese.includes(name)).map(([id]) => id);
  }
}

/** Inverse document frequency of a name in `holders` of `all` memories, scaled to 1 for two holders. */
function rarity(holders: number, all: number): number {
  return all <= 2 ? 1 : Math.max(0, Math.log(all / holders) / Math.log(all / 2));
}

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
