import type { PdfObject } from './printed-pdf.ts';

/**
 * Moves everything except rows and captions out of tables in the structure tree (ISO 32000-1, section 14.8.4.3.4), to
 * the place after the table. The page puts the totals into the last row of the table of lines, so that they stay on one
 * page with the last lines. That row and its cell have `role="presentation"`, so the browser writes their content as
 * direct children of the table.
 * @returns the changed objects
 */
export function structureAfterTables(objects: ReadonlyMap<number, PdfObject>): PdfObject[] {
  const changed = new Map<number, string>();
  const textOf = (number: number) => changed.get(number) ?? objects.get(number)?.content.toString('latin1') ?? '';
  for (const { number, content, isStream } of objects.values()) {
    const table = isStream ? '' : content.toString('latin1');
    const parent = Number(/\/P (\d+) 0 R/.exec(table)?.[1]);
    const kids = /\/K \[([^\]]*)\]/.exec(table)?.[1];
    if (!/\/S \/Table\b/.test(table) || kids === undefined) continue;
    const misplaced = [...kids.matchAll(/(\d+) 0 R/g)].filter(([, kid]) => {
      const type = /\/S \/(\w+)/.exec(textOf(Number(kid)))?.[1];
      return type !== undefined && !PARTS_OF_TABLES.has(type);
    });
    if (misplaced.length === 0) continue;
    const own = misplaced.reduce((left, [reference]) => left.replace(new RegExp(`\\b${reference}\\s*`), ''), kids);
    const place = new RegExp(`(/K \\[?(?:[^\\]]*\\s)?)(${number} 0 R)`);
    if (!place.test(textOf(parent))) continue;
    changed.set(number, textOf(number).replace(kids, own.trim()));
    const after = misplaced.map(([reference]) => reference).join(' ');
    const isList = /\/K \[/.test(textOf(parent));
    const both = `${number} 0 R ${after}`;
    changed.set(
      parent,
      textOf(parent).replace(place, (_, before: string) => before + (isList ? both : `[${both}]`)),
    );
    for (const [, kid] of misplaced)
      changed.set(Number(kid), textOf(Number(kid)).replace(/\/P \d+ 0 R/, `/P ${parent} 0 R`));
  }
  return [...changed].map(([number, text]) => ({ number, content: Buffer.from(text, 'latin1'), isStream: false }));
}

const PARTS_OF_TABLES = new Set(['TR', 'THead', 'TBody', 'TFoot', 'Caption']);
