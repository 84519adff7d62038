import { pictureFile } from '../../render/figure.ts';
import type { Figure } from '../../render/figure.ts';
import { renderFigure, renderSpecification } from '../../render/figure.ts';

const kept = 24;

/** A cache of drawn figures: drawing one takes longer than any page. */
export class FigurePictures {
  readonly #pictures = new Map<string, Promise<string>>();

  draw(figure: Figure): Promise<string> {
    const key = renderSpecification(figure);
    const known = this.#pictures.get(key) ?? renderFigure(figure).then(pictureFile);
    // Moves the picture to the end of the map, whose first entry is then the least recently used.
    this.#pictures.delete(key);
    this.#pictures.set(key, known);
    if (this.#pictures.size > kept) this.#pictures.delete(this.#pictures.keys().next().value!);
    return known;
  }
}
