/** Draws the logo of the product. */
export function BrandMark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M10 24V8h12M10 16h9" />
    </svg>
  );
}
