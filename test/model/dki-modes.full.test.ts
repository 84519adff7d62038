import { describe } from 'vitest';
import { composeEngine } from '../../src/bench/compose-engine.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { dkiModePromises } from './dki-mode-promises.ts';

describe('on llama.cpp with flash attention', () =>
  dkiModePromises(composeEngine({ flashAttention: 'on' }), presetModels.model));
