import { useLanguage } from './language.tsx';

/** Number of the shapes: as many as the first screen of a phone shows. */
const SHAPES = ['title', 'block', 'block', 'block'] as const;

/** Shows the shapes of a page whose content is awaited, and tells screen readers so. */
export function Skeleton() {
  const { texts } = useLanguage();
  return (
    <div class="skeleton">
      <p class="unseen" role="status">
        {texts.account.loading}
      </p>
      {SHAPES.map((shape, nth) => (
        <div key={nth} class={`shape ${shape}`} aria-hidden="true" />
      ))}
    </div>
  );
}
