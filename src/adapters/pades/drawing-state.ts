/** The state that decides how a glyph is drawn at a point of a content stream (ISO 32000-1, sections 8.4 and 9.3). */
export interface GlyphState {
  /** Operators that restore the graphics state, from the state at the start of the page. */
  readonly graphics: readonly string[];
  /** Operators that restore font and position, within a text object. */
  readonly text: readonly string[];
}

/** Tracks the graphics and text state through the lines of a content stream that the browser wrote. */
export function createDrawingState() {
  const outer: string[][] = [];
  let graphics: string[] = [];
  let path: string[] = [];
  let [font, matrix] = ['', ''];
  let [x, y] = [0, 0];

  return {
    read(line: string): void {
      const operator = line.slice(line.lastIndexOf(' ') + 1);
      if (operator === 'Tj' || operator === 'Td') {
        const [, dx, dy] = MOVE.exec(line) ?? [];
        x += Number(dx ?? 0);
        y += Number(dy ?? 0);
      } else if (operator === 'Tf') font = line;
      else if (operator === 'Tm' || operator === 'BT') [matrix, x, y] = [operator === 'Tm' ? line : '', 0, 0];
      else if (operator === 'q') outer.push(graphics);
      else if (operator === 'Q') graphics = outer.pop() ?? [];
      else if (operator === 'cm') graphics = [...graphics, line];
      // A later colour replaces an earlier one, while the parameters of several `gs` accumulate.
      else if (REPLACES.test(operator)) graphics = [...graphics.filter((each) => !each.endsWith(` ${operator}`)), line];
      else if (operator === 'gs') graphics = [...graphics.filter((each) => each !== line), line];
      else if (PATH.test(operator)) path.push(line);
      else if (/^W\*? n$/.test(line)) {
        graphics = [...graphics, ...path, line];
        path = [];
      } else path = [];
    },
    /** Returns the state after the last line. */
    now: (): GlyphState => ({
      graphics,
      text: [font, matrix, `${decimal(x)} ${decimal(y)} Td`].filter((each) => each !== ''),
    }),
  };
}

/** Formats a number as PDF writes it, without an exponent. */
export function decimal(value: number): string {
  return value.toFixed(6).replace(/\.?0+$/, '');
}

/** Matches the move at the start of a line that shows text. */
export const MOVE = /^(-?[\d.]+) (-?[\d.]+) Td(?: |$)/;
const REPLACES = /^(?:rg|RG|g|G|T[cwzLrs])$/;
const PATH = /^(?:m|l|c|v|y|h|re)$/;
