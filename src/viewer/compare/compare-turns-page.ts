import { html } from 'hono/html';
import { BenchError } from '../../base/bench-error.ts';
import type { Html } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { type Content, type Phrase, phrases, plainText, type Section, type SectionBlock, type SectionCell } from '../../render/section.ts'; // prettier-ignore
import { barHtml, contentHtml, leftOut, pairsHtml, scrolledTable } from '../../render/section-html.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { type HiddenTexts, hiddenNote } from '../hidden-texts.ts';
import type { Links, TurnRef } from '../links.ts';
import { filterForm, options, select } from '../list-components.ts';
import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';
import { costSection, kvSection } from '../turn/kv-and-cost-sections.ts';
import { type SegmentWithPosition, segmentsWithPositions, segmentKind, segmentName, segmentPlace } from '../turn/segment-positions.ts'; // prettier-ignore
import { readTurnPage, reference } from '../turn/read-turn-page.ts';
import { alignedSegments, changedSegment, segmentSpans } from '../turn/sequence-difference.ts';
import { answerSection, goldContent, goldSection, nextSection } from '../turn/turn-sections.ts';

const MAX_ROWS = 60;
const MAX_BYTES = 1200;
/** Limit per segment and side, or per part of a segment that differs. */
const MAX_SEGMENT_BYTES = 300;

/** Reads the turns of two arms on an item. @throws BenchError `not-found`, also if a turn failed; `bad-option` for the same arm twice */
export function readArmPair(database: BenchDatabase, ref: TurnRef, other: string, hidden?: HiddenTexts) {
  if (ref.arm === other) throw new BenchError('bad-option', `arm "${other}" is named twice`, 'name two arms');
  const { run, turn, against, siblings, pieces } = readTurnPage(database, ref, other, hidden);
  if (turn.state === 'failed' || against === undefined) {
    const failed = turn.state === 'failed' ? ref.arm : other;
    throw new BenchError('not-found', `${failed} failed on item ${ref.item}`, 'choose an arm that gave an answer');
  }
  const arms = siblings.flatMap((one) =>
    one.state === 'answered' && one.repeat === ref.repeat && one.turn === ref.turn ? one.arm : [],
  );
  return { run, a: turn, b: against, arms, pieces };
}

/** The turns of two arms, A and B, on one item; `arms` are all that answered in this repeat and turn. */
export type ArmPair = ReturnType<typeof readArmPair>;

export function compareTurnsPage(model: ArmPair, links: Links): Html {
  const { run, a, b } = model;
  return html`<h1>${printable(a.arm)} <span class="soft">beside</span> ${printable(b.arm)}</h1>
    <p class="lead">
      Run ${printable(run.name)} · <a href="${links.item(run.name, a.itemId)}">item ${printable(a.itemId)}</a> · A:
      <a href="${links.turn(reference(run, a))}">${printable(a.arm)}</a> · B:
      <a href="${links.turn(reference(run, b))}">${printable(b.arm)}</a>
      ${links.answered ? html`· <a href="${links.pair(reference(run, b), a.arm)}">swap A and B</a>` : ''}
    </p>
    ${hiddenNote(run.hiddenTexts)} ${links.answered ? chooser(model) : ''}
    ${pairsHtml([
      ['question', { text: a.prompt.originalQuery, most: MAX_BYTES }],
      ['gold', goldContent(a.item.gold, MAX_BYTES)],
    ])}
    <p class="note">≠ marks differences; tokens that only one of the prompts has are highlighted.</p>
    ${pairSections(model, answerSection(a, false), answerSection(b, false))} ${promptPair(model)}
    ${[kvSection, costSection, (turn: AnsweredDisplayTurn) => nextSection(turn), goldSection].map((section) => pairSections(model, section(a), section(b)))}`;
}

function chooser({ run, a, b, arms }: ArmPair): Html {
  const hidden = { run: run.name, item: a.itemId, repeat: a.repeat, turn: a.turn };
  const fields = [select('arm', 'A', a.arm, options(arms)), select('other', 'B', b.arm, options(arms))];
  return filterForm({ action: '/pair', hidden, fields });
}

interface Side extends SectionCell {
  readonly label: Content;
  readonly compared: string;
}

/** Rows that do not depend on the arm. */
const notCompared = ['question', 'gold', 'kind'];

/** The rows of a section by label, with a number to distinguish equal labels. */
function sides({ blocks }: Section): Map<string, Side> {
  const counts = new Map<string, number>();
  return new Map(
    blocks.flatMap(blockSides).map((row) => {
      const label = plainText(row.label);
      counts.set(label, (counts.get(label) ?? 0) + 1);
      return [`${label} ${counts.get(label)!}`, row];
    }),
  );
}

function blockSides(block: SectionBlock): Side[] {
  switch (block.kind) {
    case 'pairs':
      return block.rows
        .filter(([name]) => !notCompared.includes(name))
        .map(([label, content]) => ({ label, content, compared: plainText(content) }));
    case 'text':
      return [{ label: 'summary', content: block.content, compared: plainText(block.content) }];
    case 'table':
      return block.rows.map(({ label, cells }) => {
        const [only] = cells;
        if (cells.length === 1) return { ...only!, label, compared: plainText(only!.content) };
        const named = cells.map(({ content }, index): Phrase[] => [
          { text: `${index === 0 ? '' : ', '}${block.columns[index]!.heading} `, look: 'soft' },
          ...phrases(content),
        ]);
        const compared = cells.filter((_, index) => block.columns[index]!.measured !== true);
        return { label, content: named.flat(), compared: compared.map(({ content }) => plainText(content)).join() };
      });
    default:
      return [];
  }
}

function pairSections(model: ArmPair, a: Section, b: Section): Html {
  const [sidesA, sidesB] = [sides(a), sides(b)];
  const names = [...new Set([...sidesA.keys(), ...sidesB.keys()])];
  const show = (side: Side | undefined): Html => {
    if (side === undefined) return html`<span class="soft">–</span>`;
    const text = contentHtml(side.content);
    return side.bar === undefined ? text : html`<span class="p">${text}</span> ${barHtml(side.bar)}`;
  };
  const rows = names.slice(0, MAX_ROWS).map((name) => {
    const [here, there] = [sidesA.get(name), sidesB.get(name)];
    return pairRow((here ?? there)!.label, show(here), show(there), here?.compared !== there?.compared);
  });
  const heading = a.heading === b.heading ? a.heading : a.heading.replace(/:.*$/, '');
  return pairTable(model, { id: a.id, heading }, rows, names.length);
}

function pairRow(label: Content, a: Html, b: Html, differs: boolean): Html {
  return html`<tr class="${differs ? 'differs' : ''}">
    <th scope="row">${contentHtml(label)}</th>
    <td class="mark-of">
      ${differs ? html`<b title="they differ">≠</b>` : html`<span class="soft" title="the same">=</span>`}
    </td>
    <td>${a}</td>
    <td>${b}</td>
  </tr> `;
}

function pairTable(
  { a, b }: ArmPair,
  { id, heading }: Pick<Section, 'id' | 'heading'>,
  rows: readonly Html[],
  all: number,
): Html {
  const unseen = (text: string) => html`<span class="unseen">${text}</span>`;
  const arms = [`A: ${printable(a.arm)}`, `B: ${printable(b.arm)}`];
  const headings = [unseen('what'), unseen('difference'), ...arms].map((text) => html`<th scope="col">${text}</th>`);
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${printable(heading)}</h2>
    ${scrolledTable(heading, 'plain pair', headings, rows)} ${leftOut(MAX_ROWS, all, 'rows')}
  </section>`;
}

function promptPair(model: ArmPair): Html {
  const { a, b, pieces } = model;
  const segments = alignedSegments(segmentsWithPositions(a), segmentsWithPositions(b));
  const rows = segments.slice(0, MAX_ROWS).map((pair) => segmentRow(...pair, pieces));
  return pairTable(model, { id: 'prompt', heading: 'Prompts' }, rows, segments.length);
}

function segmentRow(
  a: SegmentWithPosition | undefined,
  b: SegmentWithPosition | undefined,
  pieces: ArmPair['pieces'],
): Html {
  const name = segmentName((a ?? b)!);
  if (a === undefined || b === undefined || a.tokenIds.join() === b.tokenIds.join()) {
    const differs = a?.position !== b?.position || a?.origin !== b?.origin;
    return pairRow(name, segmentSide(a), segmentSide(b), differs);
  }
  const { before, here, there, after } = changedSegment(name, segmentSpans(a, pieces), segmentSpans(b, pieces));
  const marked = (own: typeof here): Content =>
    [before, own, after].map((spans): Phrase => {
      const text = { text: spans.map((span) => span.text).join(''), most: MAX_SEGMENT_BYTES };
      return spans === own ? { ...text, look: 'marked' } : text;
    });
  return pairRow(name, segmentSide(a, marked(here)), segmentSide(b, marked(there)), true);
}

function segmentSide(segment: SegmentWithPosition | undefined, content?: Content): Html {
  if (segment === undefined) return html`<span class="soft">absent</span>`;
  return html`<div class="segment ${segmentKind(segment.role)} ${segment.origin}">
    <p class="text">${contentHtml(content ?? { text: segment.text, most: MAX_SEGMENT_BYTES })}</p>
    <small class="soft">${segmentPlace(segment)}, ${segment.origin === 'injected' ? 'as KV' : 'as text'}</small>
  </div>`;
}
