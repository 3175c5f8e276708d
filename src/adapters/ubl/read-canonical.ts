/** An element parsed from a document in canonical form. */
export interface ReadElement {
  readonly name: string;
  /** Text after the start tag, still escaped; empty in a valid element with children. */
  text: string;
  readonly attributes: string;
  readonly children: ReadElement[];
}

const TAG = /<(\/?)([A-Za-z]+(?::[A-Za-z]+)?)((?: [A-Za-z:]+="[^"<]*")*)>([^<]*)/y;

/**
 * Parses a document in canonical form without comments or processing instructions, as the writer produces it. Shares no
 * code with the writer, so that checks based on it are independent.
 * @returns the root element, or null when the text is not a well-formed document in that form
 */
export function readCanonical(xml: string): ReadElement | null {
  const document: ReadElement = { name: '', text: '', attributes: '', children: [] };
  const open: ReadElement[] = [document];
  TAG.lastIndex = 0;
  for (let end = 0; end < xml.length; end = TAG.lastIndex) {
    const match = TAG.exec(xml);
    const parent = open.at(-1);
    if (match === null || parent === undefined) return null;
    const [, slash, name = '', attributes = '', text = ''] = match;
    if (slash === '') {
      const element: ReadElement = { name, text, attributes, children: [] };
      parent.children.push(element);
      open.push(element);
    } else {
      // Text after a closing tag would be mixed content, which UBL does not use.
      if (parent.name !== name || attributes !== '' || text !== '') return null;
      open.pop();
    }
    if (open.length === 1 && TAG.lastIndex < xml.length) return null;
  }
  return open.length === 1 ? (document.children[0] ?? null) : null;
}
