/** The kinds of API keys (docs/api/contract.md, "API keys"). */
export const KEY_KINDS = ['secret', 'publishable'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];
