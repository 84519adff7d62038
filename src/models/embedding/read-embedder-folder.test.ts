import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { benchFailure, expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { presetModels } from '../default-models.ts';
import { EmbeddingService } from './embedding-service.ts';
import { readEmbedderFolder } from './read-embedder-folder.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const folder = temporaryFolder().file('model');
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  cpSync(presetModels.embedder, folder, { recursive: true, dereference: true });
});

function write(file: string, content: unknown): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), JSON.stringify(content));
}

describe('the files of sentence-transformers', () => {
  it('name pooling, dimension, longest text and prompts', () => {
    write('1_Pooling/config.json', { word_embedding_dimension: 128, pooling_mode_cls_token: true });
    write('sentence_bert_config.json', { max_seq_length: 4, do_lower_case: false });
    write('config_sentence_transformers.json', { prompts: { query: 'query: ', passage: 'passage: ' } });
    write('modules.json', [{ type: 'sentence_transformers.models.Normalize' }]);
    expect(readEmbedderFolder(folder)).toMatchObject({
      pooling: 'first',
      dimension: 128,
      maxTokens: 4,
      prompts: { query: 'query: ', document: 'passage: ' },
    });
    write('config_sentence_transformers.json', { prompts: { all: 'x ', query: 'q ' }, default_prompt_name: 'all' });
    expect(readEmbedderFolder(folder).prompts).toEqual({ query: 'q ', document: 'x ' });
  });

  it.each([
    [
      '1_Pooling/config.json',
      { pooling_mode_mean_tokens: true, pooling_mode_max_tokens: true },
      'has an unsupported pooling: pooling_mode_mean_tokens and pooling_mode_max_tokens',
    ],
    ['1_Pooling/config.json', {}, 'has an unsupported pooling: none'],
    ['1_Pooling/config.json', { pooling_mode_mean_tokens: 'yes' }, 'has a broken 1_Pooling/config.json: pooling_mode'],
    ['modules.json', [{ type: 'sentence_transformers.models.Dense' }], 'sentence_transformers.models.Dense'],
    ['sentence_bert_config.json', { max_seq_length: -1 }, 'has a broken sentence_bert_config.json: max_seq_length'],
  ])('%s with %j is refused', async (file, content, message) => {
    write(file, content);
    const refused = await benchFailure(() => readEmbedderFolder(folder));
    expect(refused.message).toContain(`embedding model ${folder} `);
    expect(refused.message).toContain(message);
  });

  it('decide the vectors: another pooling, another longest text, another prompt', async () => {
    const vectorOf = (text: string, purpose?: 'query'): Promise<Float32Array> =>
      new EmbeddingService(() => TransformersEmbedder.open(folder)).embed(text, purpose);
    const text = 'My sister Ann moved to Leeds in May.';
    const mean = await vectorOf(text);
    write('1_Pooling/config.json', { pooling_mode_cls_token: true });
    expect(await vectorOf(text)).not.toEqual(mean);
    write('1_Pooling/config.json', { pooling_mode_mean_tokens: true });
    write('config_sentence_transformers.json', { prompts: { query: 'My sister ' } });
    expect(await vectorOf('Ann moved to Leeds in May.', 'query')).toEqual(mean);
    expect(await vectorOf(text)).toEqual(mean);
    write('sentence_bert_config.json', { max_seq_length: 3 });
    expect(await vectorOf(text)).toEqual(await vectorOf(`${text} She took the cat.`));
    expect(await vectorOf(text)).not.toEqual(mean);
  });

  it('without a pooling, or with another dimension, end in an error that names the fix', async () => {
    rmSync(join(folder, '1_Pooling'), { recursive: true });
    const unnamed = `embedding model ${folder} does not name its pooling`;
    await expectFailure(TransformersEmbedder.open(folder), 'bad-model', unnamed, /1_Pooling\/config\.json/);
    write('1_Pooling/config.json', { word_embedding_dimension: 384, pooling_mode_mean_tokens: true });
    const other = `embedding model ${folder} gives 128 numbers per text, but its 1_Pooling/config.json says 384`;
    await expectFailure(TransformersEmbedder.open(folder), 'bad-model', other);
  });
});
