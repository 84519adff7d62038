import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { grammars } from '../base/grammar.ts';
import { checksumOfFile } from './hub/file-checksum.ts';
import { askedOf } from './asked.ts';
import { entryOfFile } from './entry-of-file.ts';
import { placeOfEmbedder, placeOfModel } from './place-of-name.ts';
import { presetModels } from './preset-models.ts';
import { embedders, languageModelNamed, languageModels, modelRegistry, shippedPathOf } from './registry.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-registry-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the registry', () => {
  it('has one entry a name, and for each language model the embedder that it names', () => {
    const names = modelRegistry.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const known = embedders.map(({ name }) => name);
    expect(languageModels.map(({ embedder }) => embedder).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('states size and sha-256 of every file that ships', async () => {
    const shipped = modelRegistry.flatMap((entry) => {
      const path = shippedPathOf(entry);
      if (path === undefined) return [];
      const files = entry.kind === 'embedder' ? entry.files : [{ path: '', ...entry }];
      return files.map((file) => ({ ...file, path: join(path, file.path) }));
    });
    expect(shipped).toHaveLength(7);
    for (const { path, sha256, bytes } of shipped) {
      expect([path, statSync(path).size, await checksumOfFile(path, 'sha-256')]).toEqual([path, bytes, sha256]);
    }
  });

  it('finds a file by its bytes, whatever its name is', async () => {
    const file = join(folder, 'mine.gguf');
    copyFileSync(presetModels.model, file);
    expect((await entryOfFile(file))?.name).toBe('recall-base');
    truncateSync(file, 1000);
    expect(await entryOfFile(file)).toBeUndefined();
    expect(await entryOfFile(join(folder, 'none.gguf'))).toBeUndefined();
  });

  it('finds no entry for a file of equal length and other bytes', async () => {
    const file = join(folder, 'mine.gguf');
    copyFileSync(presetModels.model, file);
    truncateSync(file, 1000);
    truncateSync(file, statSync(presetModels.model).size);
    expect(await entryOfFile(file)).toBeUndefined();
  });
});

describe('how a model is asked', () => {
  it('is the plain form, in the language of the user, for the models that ship', () => {
    for (const name of ['recall-base', 'recall-block']) {
      expect(askedOf(languageModelNamed(name), false)).toEqual({
        template: 'plain',
        systemPrompt: { en: grammars.en.systemPrompts[0], zh: grammars.zh.systemPrompts[0] },
        labels: 'index',
        answerPrefix: 'none',
      });
    }
  });

  it('is the chat template for a file without an entry that has one', () => {
    expect(askedOf(undefined, true)).toMatchObject({ template: 'chat', answerPrefix: 'According to your notes,' });
    expect(askedOf(undefined, false).template).toBe('plain');
  });
});

describe('a name', () => {
  it('stands for a file that ships, an address of the hub, or a path', () => {
    expect(placeOfModel('recall-base', folder)).toBe(presetModels.model);
    expect(placeOfModel('smollm2-135m', folder)).toMatch(/^hf:QuantFactory\/SmolLM2-135M-Instruct-GGUF@[0-9a-f]{40}\//);
    expect(placeOfModel('recall.gguf', folder)).toBe(join(folder, 'recall.gguf'));
    expect(placeOfEmbedder('minilm', folder)).toBe('minilm');
    expect(placeOfEmbedder('embed-en-zh', folder)).toBe(presetModels.embedder);
  });

  it('that is unknown gets the nearest as an answer', () => {
    expect(() => placeOfModel('smolm2-135m', folder)).toThrow('unknown name "smolm2-135m": did you mean smollm2-135m?');
    expect(() => placeOfEmbedder('minillm', folder)).toThrow('did you mean minilm?');
  });
});
