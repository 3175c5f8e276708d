/** An element as it was read from a document in canonical form. */
export interface ReadElement {
  readonly name: string;
  /** Raw text between its tags where it has no children, still escaped. */
  text: string;
  readonly attributes: string;
  readonly children: ReadElement[];
}

const TAG = /<(\/?)([A-Za-z]+(?::[A-Za-z]+)?)((?: [A-Za-z:]+="[^"<]*")*)>([^<]*)/y;

/**
 * Reads back what the writer wrote, by nothing but its text. It knows canonical form without comments or processing instructions only:
 * a document in any other form is a broken one here.
 * @returns the root element, or null when the text is not one well-formed document in that form
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
      // Text after a closing tag would be mixed content, which UBL has nowhere.
      if (parent.name !== name || attributes !== '' || text !== '') return null;
      open.pop();
    }
    if (open.length === 1 && TAG.lastIndex < xml.length) return null;
  }
  return open.length === 1 ? (document.children[0] ?? null) : null;
}
