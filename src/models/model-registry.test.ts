import { copyFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { grammars } from '../base/english-and-chinese-wordings.ts';
import {
  defaultPrompt,
  embedders,
  languageModelNamed,
  languageModelOfFile,
  languageModels,
  modelRegistry,
  resolveEmbedder,
  resolveModel,
  shippedPath,
} from './model-registry.ts';
import { presetModels } from './default-models.ts';
import { fileChecksum } from './hub/file-checksum.ts';

const folder = temporaryFolder();

describe('the registry', () => {
  it('has one entry per name, and the embedder of each language model', () => {
    const names = modelRegistry.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const known = embedders.map(({ name }) => name);
    expect(languageModels.map(({ embedder }) => embedder).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('states size and sha-256 of every file that ships', async () => {
    const shipped = modelRegistry.flatMap((entry) => {
      const path = shippedPath(entry);
      if (path === undefined) return [];
      const files = entry.kind === 'embedder' ? entry.files : [{ path: '', ...entry }];
      return files.map((file) => ({ ...file, path: join(path, file.path) }));
    });
    expect(shipped).toHaveLength(7);
    for (const { path, sha256, bytes } of shipped) {
      expect([path, statSync(path).size, await fileChecksum(path)]).toEqual([path, bytes, sha256]);
    }
  });

  it('finds a file by its bytes, whatever its name is, and none for other bytes of equal length', async () => {
    const file = folder.file('mine.gguf');
    copyFileSync(presetModels.model, file);
    const { size } = statSync(file);
    expect((await languageModelOfFile(file))?.name).toBe('recall-base');
    truncateSync(file, 1000);
    expect(await languageModelOfFile(file)).toBeUndefined();
    truncateSync(file, size);
    expect(await languageModelOfFile(file)).toBeUndefined();
    expect(await languageModelOfFile(folder.file('none.gguf'))).toBeUndefined();
  });
});

describe('the default prompt', () => {
  it('is the plain form, in the language of the user, for the models that ship', () => {
    const systemPrompt = { en: grammars.en.systemPrompts[0], zh: grammars.zh.systemPrompts[0] };
    const prompt = { template: 'plain', systemPrompt, labels: 'index', answerPrefix: 'none' };
    for (const name of ['recall-base', 'recall-block']) {
      expect(defaultPrompt(languageModelNamed(name), false)).toEqual(prompt);
    }
  });

  it('is the chat template for a file without an entry that has one', () => {
    expect(defaultPrompt(undefined, true)).toMatchObject({
      template: 'chat',
      answerPrefix: 'According to your notes,',
    });
    expect(defaultPrompt(undefined, false).template).toBe('plain');
  });
});

describe('a name', () => {
  it('stands for a file that ships, an address of the hub, or a path', () => {
    expect(resolveModel('recall-base', folder.path)).toBe(presetModels.model);
    expect(resolveModel('smollm2-135m', folder.path)).toMatch(
      /^hf:QuantFactory\/SmolLM2-135M-Instruct-GGUF@[0-9a-f]{40}\//,
    );
    expect(resolveModel('recall.gguf', folder.path)).toBe(folder.file('recall.gguf'));
    expect(resolveEmbedder('minilm', folder.path)).toBe('minilm');
    expect(resolveEmbedder('embed-en-zh', folder.path)).toBe(presetModels.embedder);
  });

  it('that is unknown is answered with the nearest one', () => {
    expect(() => resolveModel('smolm2-135m', folder.path)).toThrow(
      'unknown name "smolm2-135m": did you mean smollm2-135m?',
    );
    expect(() => resolveEmbedder('minillm', folder.path)).toThrow('did you mean minilm?');
  });
});
