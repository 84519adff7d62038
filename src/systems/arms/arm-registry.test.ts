import { describe, expect, it } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { hasCapability } from '../../engine/engine-capabilities.ts';
import type { BenchSystem } from '../memory-system.ts';
import type { ArmDefinition, ArmParts, OwnTraits } from './arm-definition.ts';
import { withSetting } from './arm-name.ts';
import { armRegistry, type Arm } from './arm-registry.ts';

const defaults = { alpha: 1, gatingThreshold: 0.7 };

const named = (name: string, alpha = 1): Arm => armRegistry.named([name], { ...defaults, alpha })[0]!;
/** Of each arm the one that it is compared with. */
const referencesOf = (...names: string[]) => armRegistry.named(names, defaults).map(({ traits }) => traits.reference);

const ownTraits: OwnTraits = {
  retrieves: 'retrieved',
  injects: 'memories',
  equivalence: 'tokens',
  control: null,
  comparison: 'planned',
  keepsSession: false,
  summary: 'an arm of a test',
  mark: { colour: '#123456', shape: 'cross', dash: [1, 0] },
};

/** An arm that a caller brings, and the parts and arguments that it was opened with. */
function ownArm(changes: Partial<ArmDefinition> = {}) {
  const opened: { readonly parts: ArmParts; readonly argument: string | null }[] = [];
  const definition: ArmDefinition = {
    name: 'own',
    traits: () => ownTraits,
    open: (parts, argument) => {
      opened.push({ parts, argument });
      return {} as BenchSystem;
    },
    ...changes,
  };
  return { definition, opened };
}

/** Parts of which a test reads the rules alone. */
const bareParts = { rules: { placement: 'rank', labels: 'index' } } as unknown as Parameters<Arm['open']>[0];

describe('the arms that ship', () => {
  it('have one name, one summary and one description each', () => {
    const { names } = armRegistry;
    expect(new Set(names).size).toBe(names.length);
    const arms = armRegistry.named(names, defaults);
    expect(new Set(arms.map(({ traits }) => traits.summary)).size).toBe(names.length);
    for (const arm of arms) {
      expect(arm.traits.summary).toMatch(/^\S[^\n]{10,119}$/);
      expect(arm.traits).toMatchObject({ base: arm.traits.name, settings: {} });
    }
  });

  it('claim the bits of the text where their sequence is that of the text', () => {
    const claims = new Map(
      armRegistry.named(armRegistry.names, defaults).map(({ traits }) => [traits.name, traits.equivalence]),
    );
    const having = (claim: string) => [...claims].filter(([, found]) => found === claim).map(([name]) => name);
    expect(having('bitwise')).toEqual(['rag', 'rag-cached', 'rag-twin', 'dki', 'dki-resident']);
    expect(having('tokens')).toEqual([
      ...['dki-blocks', 'dki-link:4', 'dki-first:.3', 'dki-random:.3', 'dki-ranked:.3', 'dki-cacheblend:.3'],
      ...['dki-cacheblend-oracle:.3', 'dki-informative:.3', 'dki-ranked-informative:.3', 'dki-query:.3'],
    ]);
    for (const { traits } of [named('dki', 0.5), named('dki@alpha=0.5')]) expect(traits.equivalence).toBe('tokens');
  });

  it('are planned to be compared, or explored', () => {
    const arms = armRegistry.named(
      [...armRegistry.names, 'dki-link:8', 'dki@labels=bullet', 'rag@placement=rank', 'dki-blocks@built=ahead'],
      defaults,
    );
    const of = (comparison: string) =>
      arms.filter(({ traits }) => traits.comparison === comparison).map(({ traits }) => traits.name);
    expect(of('baseline')).toEqual(['rag']);
    expect(of('primary')).toEqual(['dki']);
    expect(of('planned')).toEqual(['rag-cached', 'dki-blocks', 'dki-link:4', 'dki-parallel']);
    expect(of('exploratory')).toEqual(
      expect.arrayContaining(['dki-link:8', 'dki@labels=bullet', 'rag@placement=rank', 'dki-blocks@built=ahead']),
    );
  });

  it('are controls by their plain name alone', () => {
    const randomControl = (name: string) => named(name).traits.control;
    expect(['none', 'dki-wrong', 'rag-twin'].map(randomControl)).toEqual(['negative', 'negative', 'twin']);
    expect(['rag', 'dki', 'dki-wrong@labels=bullet'].map(randomControl)).toEqual([null, null, null]);
  });

  it('need the capabilities that their KV takes, scaled values those of cells too', () => {
    expect(named('rag').requires).toEqual([]);
    expect(named('rag-cached').requires).toEqual(['promptCache']);
    expect(named('dki').requires).toEqual(['checkpoints']);
    expect(named('dki', 0.5).requires).toEqual(['checkpoints', 'cells']);
    expect(named('dki@alpha=0.5').requires).toEqual(['checkpoints', 'cells']);
    expect(named('dki-blocks', 0.5).requires).toEqual(['cells']);
    expect(named('dki-cacheblend:.3').requires).toEqual(['cells', 'firstLayers']);
    expect(named('dki-query:.3').requires).toEqual(['cells', 'queries']);
    expect(named('dki-evict-snapkv:.5').requires).toEqual(['cells', 'queries']);
    expect(named('dki-parallel').requires).toEqual(['cells', 'sharedPositions']);
    expect(named('dki-gated').requires).toEqual(['checkpoints', 'cells', 'fullDistribution']);
  });

  it('that need a capability the engine lacks are not runnable on it', async () => {
    await using whole = await fakeAdapter.opener({}).open({ model: 'fake' });
    await using part = await fakeAdapter.opener({ cells: false, probabilities: 5 }).open({ model: 'fake' });
    const runnable = ({ capabilities }: typeof whole) =>
      armRegistry
        .named(armRegistry.names, defaults)
        .filter(({ requires }) => requires.every((name) => hasCapability(capabilities, name)))
        .map(({ traits }) => traits.name);
    expect(runnable(whole)).toEqual(armRegistry.names);
    expect(runnable(part)).toEqual([
      ...['none', 'oracle', 'full', 'rag', 'rag-cached', 'rag-twin', 'summary'],
      ...['dki', 'dki-resident', 'dki-hybrid', 'dki-wrong'],
    ]);
  });
});

describe('a name', () => {
  it('has an argument where the arm takes one, and settings behind it', () => {
    const name = 'dki-link:16@alpha=0.5@labels=bullet@template=chat';
    const { traits, template } = named(name);
    const settings = { alpha: 0.5, labels: 'bullet', template: 'chat' };
    expect(traits).toMatchObject({ name, base: 'dki-link:16', settings });
    expect(template).toBe('chat');
    expect(named('dki').template).toBeUndefined();
  });

  it('has a setting of two words in one spelling, over the general prefix of the run', () => {
    const { definition, opened } = ownArm();
    const arms = armRegistry.with(definition);
    const general = 'According to your notes,';
    const rules = { ...bareParts.rules, answerPrefix: { general, use: 'general' } } as const;
    for (const use of ['none', 'item', 'general']) {
      const [arm] = arms.named([`own@answer-prefix=${use}`], defaults);
      expect(arm!.traits.settings).toEqual({ answerPrefix: use });
      expect(withSetting('own', 'answerPrefix', use)).toBe(arm!.traits.name);
      arm!.open({ ...bareParts, rules });
      expect(opened.at(-1)!.parts.rules).toEqual({ ...bareParts.rules, answerPrefix: { general, use } });
    }
    const references = referencesOf('rag', 'rag@answer-prefix=none', 'dki@answer-prefix=none');
    expect(references).toEqual([null, null, 'rag@answer-prefix=none']);
  });

  it.each([
    ['dki-blokcs', 'did you mean dki-blocks?'],
    ['dki-link', 'did you mean dki-link:4?'],
    ['dki-link:x', 'did you mean dki-link:4?'],
    ['dki-link:', 'did you mean dki-link:4?'],
    ['dki:4', 'did you mean dki?'],
    ['dki@labels=roman', '--arms: no arm "dki@labels=roman"'],
    ['dki@labels=bullet@labels=index', '--arms: no arm "dki@labels=bullet@labels=index"'],
    ['dki@labels=bullet=index', '--arms: no arm "dki@labels=bullet=index"'],
    ['dki@colour=red', '--arms: no arm "dki@colour=red"'],
    ['', '--arms: no arm ""'],
  ])('that is none is refused with the nearest: %s', (name, message) => {
    expect(armRegistry.has(name)).toBe(false);
    expect(() => named(name)).toThrow(message);
    expect(() => named(name)).toThrow(expect.objectContaining({ code: 'bad-option' }));
  });

  it('given twice is one arm, and the order is that of the names', () => {
    const arms = armRegistry.named(['dki', 'rag', 'dki'], defaults);
    expect(arms.map(({ traits }) => traits.name)).toEqual(['dki', 'rag']);
  });

  it('with an alpha is refused for an arm that injects nothing, a run of such arms alone too', () => {
    expect(() => named('rag@alpha=0.5')).toThrow('--arms rag@alpha=0.5: rag injects no KV to scale');
    expect(() => armRegistry.named(['none', 'rag'], { ...defaults, alpha: 0.5 })).toThrow(
      '--alpha 0.5: none of none, rag injects KV that it could scale',
    );
    expect(armRegistry.named(['none', 'dki'], { ...defaults, alpha: 0.5 })).toHaveLength(2);
  });
});

describe('settings', () => {
  it('of blocks say how an arm makes and places them, and leave its prompt and reference alone', () => {
    const of = (name: string) => named(name).traits;
    expect(of('dki-blocks@context=none')).toMatchObject({
      ...{ prefill: 'blocks', making: { context: 'none' }, equivalence: 'tokens', comparison: 'exploratory' },
      settings: { context: 'none' },
    });
    expect(of('dki-link:4@context=previous')).toMatchObject({ prefill: 'link:4', making: { context: 'previous' } });
    const making = { sink: { tokens: 4, kept: false } };
    expect(of('dki-blocks@sink=4')).toMatchObject({ making, equivalence: 'tokens' });
    expect(of('dki-blocks@context=none@sink=12:kept')).toMatchObject({
      ...{ making: { context: 'none', sink: { tokens: 12, kept: true } }, equivalence: 'none' },
    });
    expect(of('dki-cacheblend:.15@run=16')).toMatchObject({ prefill: 'cacheblend/16:.15', settings: { run: 16 } });
    expect(of('dki-random:ranked:.3@run=4')).toMatchObject({ prefill: 'random:ranked/4:.3' });
    expect(of('dki-first:.3@built=ahead')).toMatchObject({ prefill: 'first:.3', settings: { built: 'ahead' } });
    expect(of('dki-blocks@context=header@positions=contiguous')).not.toHaveProperty('making');
    expect(of('dki-parallel@temperature=1')).not.toHaveProperty('making');
    const references = referencesOf('rag', 'dki-parallel@temperature=0.9', 'dki-blocks@context=none@alpha=0.5');
    expect(references).toEqual([null, 'rag', 'rag']);
  });

  it('@positions=parallel makes dki-blocks the same arm as dki-parallel', () => {
    for (const { traits, requires } of [named('dki-parallel'), named('dki-blocks@positions=parallel')]) {
      expect(traits).toMatchObject({ prefill: 'parallel', equivalence: 'none' });
      expect(requires).toEqual(['cells', 'sharedPositions']);
    }
  });

  it.each([
    ['rag@context=none', '@context is for arms that join whole blocks'],
    ['dki@positions=parallel', '@positions is for arms that join whole blocks'],
    ['dki-blocks-evict-knorm:.5@sink=4', '@sink is for arms that join whole blocks'],
    ['dki-blocks@temperature=0.9', '@temperature is for blocks that share positions'],
    ['dki-parallel@positions=contiguous', 'this arm with contiguous positions is dki-blocks'],
    ['dki-link:4@positions=parallel', 'parallel blocks have no blocks before them'],
    ['dki-first:.3@context=none', 'the first block is never recomputed'],
    ['dki-link:4@sink=1', 'the first block is never recomputed'],
    ['dki-blocks@sink=4:kept@budget=all', '@budget=all gives all cells to memories'],
    ['dki-blocks@built=ahead@context=previous', 'has no previous memory to attend to'],
    ['dki@built=ahead', '@built is for arms that join whole blocks'],
    ['dki-blocks@run=4', '@run is for arms that recompute a share'],
    ['dki-link:4@run=4', '@run is for arms that recompute a share'],
    ['dki-ranked:.3@run=4', '@run is for arms that recompute a share'],
    ['dki-blocks@repair=1', '@repair is for arms that evict tokens of blocks'],
    ['dki-evict-knorm:.5@repair=1', '@repair is for arms that evict tokens of blocks'],
  ])('are refused where they have no sense: %s', (name, why) => {
    expect(() => named(name)).toThrow(`--arms ${name}: `);
    expect(() => named(name)).toThrow(why);
    expect(() => named(name)).toThrow(expect.objectContaining({ code: 'bad-option', hint: expect.any(String) }));
  });

  it.each([
    ...['dki@store=q5_1', 'dki@answerPrefix=none', 'dki@answer-prefix=some', 'dki-blocks@context=all'],
    ...['dki-blocks@sink=0', 'dki-blocks@sink=4:gone', 'dki-parallel@temperature=0', 'dki-parallel@temperature=warm'],
    ...['dki-first:.3@run=1', 'dki-first:.3@run=2.5', 'dki-first:.3@built=never'],
    ...['dki-blocks-evict-knorm:.5@repair=0', 'dki-blocks-evict-knorm:.5@repair=1:best'],
  ])('that are none are refused: %s', (name) => expect(armRegistry.has(name)).toBe(false));
});

describe('a type of its store', () => {
  it('a quantised store keeps the claim of equal token ids, drops the claim of equal bits, and requires `cells`', () => {
    const of = (name: string) => [named(name).traits.equivalence, named(name).requires];
    expect(of('dki@store=q8_0')).toEqual(['tokens', ['checkpoints', 'cells']]);
    expect(of('dki@store=f16')).toEqual(['bitwise', ['checkpoints']]);
    expect(of('dki-blocks@store=q4_0')).toEqual(['tokens', ['cells']]);
    expect(of('dki-evict-knorm:.5@store=q4_0')).toEqual(['none', ['cells']]);
    expect(referencesOf('rag', 'dki@store=q8_0')[1]).toBe('rag');
  });

  it('is refused for an arm that keeps none', () => {
    expect(() => named('rag@store=q8_0')).toThrow('--arms rag@store=q8_0: rag injects no stored KV');
  });

  it('is handed to the arm', () => {
    const { definition, opened } = ownArm();
    for (const name of ['own', 'own@store=q4_0'])
      armRegistry.with(definition).named([name], defaults)[0]!.open(bareParts);
    expect(opened.map(({ parts }) => parts.keptAs)).toEqual(['f16', 'q4_0']);
  });
});

describe('the reference of an arm', () => {
  it('is the text arm of the run whose prompt is built by the same settings', () => {
    expect(referencesOf('none', 'rag', 'rag-twin', 'dki', 'dki@alpha=0.5')).toEqual(['rag', null, 'rag', 'rag', 'rag']);
    const bullets = referencesOf('rag', 'rag@labels=bullet', 'dki@labels=bullet', 'dki@placement=rank');
    expect(bullets).toEqual([null, null, 'rag@labels=bullet', null]);
    expect(referencesOf('dki')).toEqual([null]);
  });

  it('is the baseline of the run where it is its only text arm, with settings too', () => {
    const comparisonsOf = (...names: string[]) =>
      armRegistry.named(names, defaults).map(({ traits }) => traits.comparison);
    expect(comparisonsOf('rag@budget=all', 'dki-blocks@budget=all')).toEqual(['baseline', 'exploratory']);
    expect(comparisonsOf('rag@budget=all', 'rag')).toEqual(['exploratory', 'baseline']);
    expect(comparisonsOf('rag@budget=all', 'rag@labels=bullet')).toEqual(['exploratory', 'exploratory']);
    expect(comparisonsOf('rag-twin@budget=all', 'dki')).not.toContain('baseline');
  });

  it('does not depend on the order of settings', () => {
    const [, reference] = referencesOf('rag@labels=bullet@placement=rank', 'dki@placement=rank@labels=bullet');
    expect(reference).toBe('rag@labels=bullet@placement=rank');
  });
});

describe("a caller's own arm", () => {
  it('has the traits of any other, and takes settings', () => {
    const { definition, opened } = ownArm();
    const arms = armRegistry.with(definition);
    expect(arms.names).toEqual(['own', ...armRegistry.names]);
    expect(arms.has('own@labels=bullet')).toBe(true);
    expect(armRegistry.has('own')).toBe(false);
    const [rag, own, other] = arms.named(['rag', 'own', 'own@alpha=0.5@labels=bullet'], defaults);
    expect(own!.traits).toEqual({ ...ownTraits, name: 'own', base: 'own', settings: {}, reference: rag!.traits.name });
    expect(other!.traits).toMatchObject({ base: 'own', comparison: 'exploratory', reference: null });
    own!.open(bareParts);
    other!.open(bareParts);
    expect(opened).toMatchObject([
      { argument: null, parts: { alpha: 1, gatingThreshold: 0.7, rules: { labels: 'index' } } },
      { argument: null, parts: { alpha: 0.5, gatingThreshold: 0.7, rules: { labels: 'bullet', placement: 'rank' } } },
    ]);
  });

  it('takes an argument', () => {
    const { definition, opened } = ownArm({ argument: { example: 'a', pattern: /^[abc]$/ } });
    const arms = armRegistry.with(definition);
    expect(arms.names[0]).toBe('own:a');
    arms.named(['own:c@budget=all'], defaults)[0]!.open(bareParts);
    expect(opened).toMatchObject([{ argument: 'c', parts: { rules: { memoryShare: 1 } } }]);
    expect(arms.has('own:d')).toBe(false);
  });

  it('comes before one that ships with the same name, which is listed once', () => {
    const { definition } = ownArm({ name: 'dki' });
    const arms = armRegistry.with(definition);
    expect(new Set(arms.names)).toEqual(new Set(armRegistry.names));
    expect(arms.named(['dki@alpha=0.5'], defaults)[0]!.traits.summary).toBe(ownTraits.summary);
  });
});
