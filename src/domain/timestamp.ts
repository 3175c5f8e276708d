/**
 * Formats an instant in ISO 8601, UTC and whole seconds: `2026-01-31T12:00:00Z` (docs/api/contract.md, "Conventions").
 */
export function timestampOf(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}
