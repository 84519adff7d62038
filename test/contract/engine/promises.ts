import { describe } from 'vitest';
import { cellPromises } from './cells.ts';
import { checkpointPromises } from './checkpoints.ts';
import { descriptionPromises } from './description.ts';
import { evaluationPromises } from './evaluation.ts';
import { firstLayersPromises } from './first-layers.ts';
import { generationPromises } from './generation.ts';
import { meterPromises } from './meters.ts';
import { openedFor } from './opened.ts';
import { sessionPromises } from './sessions.ts';
import type { Subject } from './subjects.ts';
import { windowPromises } from './window.ts';

/** Promises of the port's comments, kept by every adapter. */
export function enginePromises(subject: Subject): void {
  const opened = openedFor(subject);
  describe('describes itself and its tokens', () => descriptionPromises(subject, opened));
  describe('opens sessions', () => sessionPromises(subject, opened));
  describe('evaluates and scores', () => evaluationPromises(subject, opened));
  describe('generates', () => generationPromises(subject, opened));
  describe('truncates, erases and refuses what does not fit', () => windowPromises(subject, opened));
  describe('counts', () => meterPromises(subject, opened));
  const { checkpoints, cells, firstLayers } = subject.capabilities;
  describe.runIf(checkpoints)('saves and restores sessions', () => checkpointPromises(subject));
  describe.runIf(firstLayers)('opens its first layers', () => firstLayersPromises(subject, opened));
  describe.runIf(cells !== null)('gives cells out and takes them in', () => cellPromises(subject, opened));
}
