/** Matches names that only this service uses. An unknown name of this form is a mistake wherever it is set. */
const OWN = /^(DGI|SIGNING|RATE_LIMIT|WEBHOOK|TSA)_/;
/** Matches names in a settings file that belong to Node, to libraries, or to the tools that start the service. */
const OTHERS =
  /^(NODE|OTEL|COMPOSE|UV|SSL|LC|SOFTHSM2|MONGODB)_|^(TZ|LANG|PATH|HOME|FATOURA_KEY|ENV_FILE|TLS_FOLDER|AUTHORITY_FOLDER|(HTTPS?|NO|ALL)_PROXY)$/i;

/**
 * Returns lines for operators about variables that look like settings but are not, each with the setting that may be
 * meant. Checks all names of a settings file, and those names of the environment that only this service uses.
 * @param inFile the names that the file has
 * @param known the names of all settings
 */
export function unknownNames(
  environment: readonly string[],
  inFile: readonly string[],
  known: readonly string[],
): string[] {
  const asked = new Set([
    ...inFile.filter((name) => !OTHERS.test(name)),
    ...environment.filter((name) => OWN.test(name)),
  ]);
  return [...asked]
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearest(name, known);
      return `${name} is no setting, and nothing reads it.${near === null ? '' : ` Did you mean ${near}?`}`;
    });
}

/** Returns the most similar name; null if it differs by more than a third of its letters. */
function nearest(name: string, known: readonly string[]): string | null {
  const [best] = known
    .map((each) => ({ each, distance: distance(name.toUpperCase(), each) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= best.each.length / 3 ? best.each : null;
}

/** Returns the number of letters to insert, to remove or to replace (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length] ?? 0;
}
