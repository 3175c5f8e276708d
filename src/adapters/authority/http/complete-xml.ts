/** Of a document: where its first element begins, and where its last one ends. */
const EDGE_BYTES = 4096;
const FIRST_TAG = /<([A-Za-z_:][^\s<>/]*)/;
const LAST_TAG = /<\/([^\s<>/]+)\s*>\s*$/;
const ONLY_TAG = /^[^<]*(?:<\?[^<>]*\?>\s*)?<[A-Za-z_:][^<>]*\/>\s*$/;

/**
 * Whether an XML document ends with the end of its root element, as one that was cut off on its way does not. Nothing
 * else is checked: whether it is right is for its reader.
 */
export function isCompleteXml(document: Buffer): boolean {
  // One character for each byte: names are only compared.
  const [, first] = FIRST_TAG.exec(document.toString('latin1', 0, EDGE_BYTES)) ?? [];
  const [, last] = LAST_TAG.exec(document.toString('latin1', Math.max(0, document.length - EDGE_BYTES))) ?? [];
  if (first !== undefined && first === last) return true;
  return document.length <= EDGE_BYTES && ONLY_TAG.test(document.toString('latin1'));
}
