import { describe } from 'vitest';
import { cellPromises } from './engine/cells.ts';
import { checkpointPromises } from './engine/checkpoints.ts';
import { descriptionPromises } from './engine/description.ts';
import { evaluationPromises } from './engine/evaluation.ts';
import { generationPromises } from './engine/generation.ts';
import { limitedPromises } from './engine/limited.ts';
import { meterPromises } from './engine/meters.ts';
import { sessionPromises } from './engine/sessions.ts';
import { subjects } from './engine/subjects.ts';
import { windowPromises } from './engine/window.ts';

/** What the comments of the port promise, kept by every adapter. */
describe.each(subjects)('$name', (subject) => {
  describe('describes itself and its tokens', () => descriptionPromises(subject));
  describe('opens sessions', () => sessionPromises(subject));
  describe('evaluates and scores', () => evaluationPromises(subject));
  describe('generates', () => generationPromises(subject));
  describe('truncates, erases and refuses what does not fit', () => windowPromises(subject));
  describe('counts', () => meterPromises(subject));
  const { checkpoints, cells } = subject.capabilities;
  describe.runIf(checkpoints)('saves and restores sessions', () => checkpointPromises(subject));
  describe.runIf(cells !== null)('gives cells out and takes them in', () => cellPromises(subject));
});

describe('without some capabilities:', () => limitedPromises());
