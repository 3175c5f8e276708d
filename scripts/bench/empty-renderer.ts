import type { ClosableRenderer } from '../../src/app/documents.ts';

const EMPTY_PDF = Buffer.from('%PDF-1.7\n%%EOF\n');

/** A renderer that costs nothing. */
export const EMPTY_RENDERER: ClosableRenderer = {
  render: async () => EMPTY_PDF,
  draw: async () => EMPTY_PDF,
  warm: async () => undefined,
  close: async () => undefined,
};
