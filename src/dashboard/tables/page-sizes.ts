/** Numbers of rows that a page of a list may have. The first is the default, and is not in the address. */
export const PAGE_SIZES = [25, 50, 100] as const;

/** Reads the size of a page from the query of a list's address. */
export function pageSizeOf({ size }: Readonly<Record<string, string>>): number {
  return PAGE_SIZES.find((each) => String(each) === size) ?? PAGE_SIZES[0];
}

/** Returns the size as it is in an address; null for the default. */
export function sizeInAddress(size: number): string | null {
  return size === PAGE_SIZES[0] ? null : String(size);
}
