/**
 * The data of a person that the browser keeps, and where. Its keys begin with its name and the person's id, so that
 * nobody else at this browser sees it. A sign-out forgets all of it, so further kinds of kept data must be added here.
 */
const KEPT = {
  /** The typed state of a form: in this tab. */
  typed: () => sessionStorage,
  /** The seen figures of a workspace. */
  look: () => localStorage,
} as const;

/** Returns the key of kept data of a person. */
export function keyOfKept(name: keyof typeof KEPT, personId: string, of: string): string {
  return `${name} ${personId} ${of}`;
}

/** Forgets all kept data of all people, for the next person at this browser. */
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
