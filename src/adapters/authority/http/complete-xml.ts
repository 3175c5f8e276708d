/** Number of bytes of a document that are searched: at its start for its first element, at its end for its last tag. */
const EDGE_BYTES = 4096;
const FIRST_TAG = /<([A-Za-z_:][^\s<>/]*)/;
const LAST_TAG = /<\/([^\s<>/]+)\s*>\s*$/;
const ONLY_TAG = /^[^<]*(?:<\?[^<>]*\?>\s*)?<[A-Za-z_:][^<>]*\/>\s*$/;

/**
 * Whether an XML document ends with the end tag of its root element; a document that was truncated in transit does not.
 * Checks nothing else: whether the document is correct is for its reader to decide.
 */
export function isCompleteXml(document: Buffer): boolean {
  // Decodes each byte to one character: names are only compared.
  const [, first] = FIRST_TAG.exec(document.toString('latin1', 0, EDGE_BYTES)) ?? [];
  const [, last] = LAST_TAG.exec(document.toString('latin1', Math.max(0, document.length - EDGE_BYTES))) ?? [];
  if (first !== undefined && first === last) return true;
  return document.length <= EDGE_BYTES && ONLY_TAG.test(document.toString('latin1'));
}
