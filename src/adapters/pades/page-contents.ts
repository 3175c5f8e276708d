import { deflateSync } from 'node:zlib';
import { withArtifacts } from './artifacts.ts';
import { inflated, streamObject } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';
import { createRightToLeftText, type PageContent } from './right-to-left-text.ts';

/**
 * Makes the content of the pages accessible to software: right-to-left text can be searched and copied
 * (right-to-left-text.ts), and content outside the structure tree is marked as an artifact (artifacts.ts). The
 * appearance does not change. Content with an unexpected structure stays as it is.
 * @returns the changed objects
 */
export function readablePages(objects: ReadonlyMap<number, PdfObject>): PdfObject[] {
  const pages = [...objects.values()].flatMap((object) => pageContent(objects, object) ?? []);
  const text = createRightToLeftText(objects, pages);
  const contents = pages.map(({ number, lines, fonts }) => {
    const content = withArtifacts(text.rewritten({ number, lines, fonts })).join('\n');
    const packed = deflateSync(Buffer.from(content, 'latin1'));
    return { number, content: streamObject('/Filter/FlateDecode', packed), isStream: true };
  });
  return [...contents, ...text.fonts()];
}

function pageContent(objects: ReadonlyMap<number, PdfObject>, { content, isStream }: PdfObject): PageContent | null {
  if (isStream) return null;
  const page = content.toString('latin1');
  const number = Number(/\/Contents (\d+) 0 R/.exec(page)?.[1]);
  const stream = objects.get(number);
  if (!/\/Type ?\/Page\b/.test(page) || stream === undefined) return null;
  const text = inflated(stream.content);
  if (text === null) return null;
  const named = /\/Font ?<<([^<>]*)>>/.exec(page)?.[1] ?? '';
  const fonts = new Map([...named.matchAll(/\/(\w+) (\d+) 0 R/g)].map(([, name, font]) => [name!, Number(font)]));
  return { number, lines: text.split('\n'), fonts };
}
