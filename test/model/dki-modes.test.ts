import { describe } from 'vitest';
import { presetModels } from '../../src/models/default-models.ts';
import { realEngine } from '../fixtures/engines.ts';
import { fakeAdapter } from '../fixtures/fake-engine/fake-adapter.ts';
import { dkiModePromises } from './dki-mode-promises.ts';

describe('on llama.cpp', () => dkiModePromises(realEngine, presetModels.model));

describe('on the fake engine', () => dkiModePromises(fakeAdapter.opener({}), 'fake'));
