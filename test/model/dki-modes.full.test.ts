import { describe } from 'vitest';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { dkiModePromises } from './dki-mode-promises.ts';

describe('on llama.cpp with flash attention', () =>
  dkiModePromises(selectEngine({ flashAttention: 'on' }), presetModels.model));
