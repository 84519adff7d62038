import { describe } from 'vitest';
import { presetModels } from '../../src/models/preset-models.ts';
import { realEngine } from '../fixtures/engines.ts';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { blockMakingPromises } from './block-making-promises.ts';

describe('on llama.cpp', () => blockMakingPromises(realEngine, presetModels.model));

describe('on the fake engine', () => blockMakingPromises(fakeAdapter.opener({}), 'fake'));
