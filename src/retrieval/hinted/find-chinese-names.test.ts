import { expect, test } from 'vitest';
import { findChineseNames } from './memory-links.ts';

test.each([
  ['我姐姐叫陈晓梅。', ['陈晓梅']],
  ['我养了一只叫墨团的狗。', ['墨团']],
  ['我的老板是赵立新', ['赵立新']],
  ['赵立新的办公室在奥斯陆。', ['赵立新']],
  ['我最喜欢《红楼梦》。', ['红楼梦']],
  ['我和欧阳修，还有王芳都去了。', ['欧阳修']],
  ['他的名字是亚历山大', ['亚历山大']],
  ['我周末常去爬山，很高兴。', []],
  ['你叫什么？', []],
  ['周末的时候我在家。', []],
  ['My boss is called Zhao.', []],
])('%s', (text, names) => expect(findChineseNames(text)).toEqual(names));
