/**
 * What the browser keeps of a person, and where. Its keys begin with its name and the person's id, so that nobody else
 * at this browser sees it. A sign-out forgets all of it; add here what else is kept.
 */
const KEPT = {
  /** What is typed in a form: in this tab. */
  typed: () => sessionStorage,
  /** What was seen of a workspace. */
  look: () => localStorage,
} as const;

/** Returns the key of something that is kept of a person. */
export function keyOfKept(name: keyof typeof KEPT, personId: string, of: string): string {
  return `${name} ${personId} ${of}`;
}

/** Forgets everything that is kept of anybody, for the next person at this browser. */
export function forgetKept(): void {
  for (const [name, storageOf] of Object.entries(KEPT)) {
    try {
      const storage = storageOf();
      for (const key of Object.keys(storage)) if (key.startsWith(`${name} `)) storage.removeItem(key);
    } catch {
      // The browser stores nothing for this page.
    }
  }
}
