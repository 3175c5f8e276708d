import { deflateSync } from 'node:zlib';
import { withArtifacts } from './artifacts.ts';
import { inflated, streamObject } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';
import { createRightToLeftText, type PageContent } from './right-to-left-text.ts';

/**
 * What the pages show, made readable for machines: letters that are written from right to left can be found and copied (right-to-left-text.ts),
 * and what is no part of the text is marked so (artifacts.ts). Nothing looks different. Content that is built in another way than the
 * browser builds it stays as it is.
 * @returns the objects that change
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
