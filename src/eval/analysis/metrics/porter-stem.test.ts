import { expect, test } from 'vitest';
import { porterStem } from './porter-stem.ts';

/** Examples of Porter's paper, step by step, whose stems NLTK shares. */
const published = `
  caresses caress, ponies poni, cats cat, caress caress
  feed feed, agreed agre, plastered plaster, bled bled, motoring motor, sing sing
  conflated conflat, troubled troubl, sized size, hopping hop, tanned tan, falling fall
  hissing hiss, fizzed fizz, failing fail, filing file, happy happi
  relational relat, conditional condit, rational ration, digitizer digit, operator oper
  feudalism feudal, decisiveness decis, hopefulness hope, formality formal, sensibility sensibl
  triplicate triplic, formative form, electrical electr, goodness good
  revival reviv, allowance allow, inference infer, airliner airlin, adjustable adjust
  replacement replac, adoption adopt, homologous homolog, effective effect, bowdlerize bowdler
  probate probat, rate rate, cease ceas, controlling control, roll roll`;
/** Words of which NLTK's extensions make other stems than the plain algorithm does. */
const extensions = `
  dies die, died die, tied tie, tried tri, pies pie, flies fli, always alway, enjoy enjoy, say say
  age age, ages age, skies sky, news news, dying die, geology geolog, additionally addit, is is, by by`;

const pairs = (text: string) => [...text.matchAll(/(\w+) (\w+)/g)].map(([, word, stem]) => [word!, stem!] as const);

test.each([...pairs(published), ...pairs(extensions)])('%s has the stem %s, as in NLTK', (word, stem) => {
  expect(porterStem(word)).toBe(stem);
});
