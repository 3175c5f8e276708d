/** Makes the address of a page of a list. @param query members with null are left out */
export function listAddress(path: string, query: Readonly<Record<string, string | null>>): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== null);
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}

/** Returns the arguments of a connection for the page that an address names. */
export function pageArguments({ after, before }: Readonly<Record<string, string>>, rows: number) {
  return before && !after ? { last: rows, before } : { first: rows, ...(after && { after }) };
}
