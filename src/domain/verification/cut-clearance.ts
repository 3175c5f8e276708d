const EXTENSIONS = 'urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2';
/** The namespace of the authority's statement in a cleared document, and the URI of its extension. */
export const CLEARANCE = 'urn:authority:clearance:1';

/**
 * Matches the start of the authority's extension, which contains only the clearance. It consists of fixed texts, so
 * matching takes linear time.
 */
const HEAD = new RegExp(
  `<(\\w+):UBLExtension(?: xmlns:\\1="${EXTENSIONS}")?><\\1:ExtensionURI>${CLEARANCE}</\\1:ExtensionURI><\\1:ExtensionContent>(?=<Clearance )`,
);

/**
 * Separates the authority's clearance from a cleared document of the first form (docs/decisions/0042). The fixed text
 * around the clearance is removed, too.
 * @returns null if there is no clearance at the end of its UBLExtensions
 */
export function cutClearance(document: Buffer): { readonly clearance: Buffer; readonly remainder: Buffer } | null {
  // latin1 gives one character per byte, so indexes are offsets.
  const text = document.toString('latin1');
  const head = HEAD.exec(text);
  if (head === null) return null;
  const [opening, prefix] = head;
  const closing = `</Clearance></${prefix}:ExtensionContent></${prefix}:UBLExtension>`;
  const end = text.indexOf(closing, head.index);
  if (
    end === -1 ||
    !/^<\/(?:\w+:)?UBLExtensions\s*>/.test(text.slice(end + closing.length, end + closing.length + 100))
  )
    return null;
  return {
    clearance: document.subarray(head.index + opening.length, end + '</Clearance>'.length),
    remainder: Buffer.concat([document.subarray(0, head.index), document.subarray(end + closing.length)]),
  };
}
