/**
 * Marks all untagged content of a page as an artifact (ISO 14289-1, section 7.1; ISO 32000-1, section 14.8.2.2): page
 * margins and watermarks. An artifact begins and ends outside of text objects.
 * @param lines content stream lines, each ending with an operator
 * @returns the input unchanged when its marked-content operators are not balanced
 */
export function withArtifacts(lines: readonly string[]): readonly string[] {
  const marked: string[] = [];
  let untagged: string[] = [];
  let depth = 0;
  let inText = false;
  const flush = () => {
    if (untagged.some((line) => PAINTS.test(line))) marked.push('/Artifact BMC', ...untagged, 'EMC');
    else marked.push(...untagged);
    untagged = [];
  };
  // Nesting depth of marked content within untagged content. `depth` is the nesting depth within tagged content.
  let inner = 0;
  for (const line of lines) {
    if (depth === 0 && inner === 0 && TAGGED.test(line)) {
      if (inText) return lines;
      flush();
      depth = 1;
      marked.push(line);
      continue;
    }
    if (line === 'BT') inText = true;
    else if (line === 'ET') inText = false;
    const step = OPENS.test(line) ? 1 : line === 'EMC' ? -1 : 0;
    if (depth > 0) {
      depth += step;
      marked.push(line);
    } else {
      inner += step;
      if (inner < 0) return lines;
      untagged.push(line);
    }
  }
  if (depth !== 0 || inner !== 0) return lines;
  flush();
  return marked;
}

const TAGGED = /\/MCID \d+ ?>> ?BDC$/;
const OPENS = /(?:^| |>>)B[DM]C$/;
/** Matches operators that paint: paths, shadings, XObjects, images and text. */
const PAINTS = /(?:^| )(?:[fFbBsS]\*?|sh|Do|EI|T[jJ]|['"])$/;
