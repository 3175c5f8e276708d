import { useLanguage } from '../interface/language.tsx';
import { Unreachable } from '../interface/unreachable.tsx';
import { Missing } from './missing.tsx';
import type { Read } from './workspace-context.ts';

interface UnreadProps {
  /** The heading while it is being read, and if that fails. */
  readonly title: string;
  readonly problem: Read<unknown>['problem'];
  /** The text if it cannot be read. */
  readonly failed: string;
  readonly onRetry: () => void;
}

/** Shown in place of an object that is not read yet, or that cannot be read by this person or at the moment. */
export function Unread({ title, problem, failed, onRetry }: UnreadProps) {
  const { texts } = useLanguage();
  if (problem === 'refused') return <Missing />;
  return (
    <section aria-busy={problem === null}>
      <h1 class="title">{title}</h1>
      {problem === null ? (
        <p class="unseen" role="status">
          {texts.loading}
        </p>
      ) : (
        <Unreachable text={failed} onRetry={onRetry} />
      )}
    </section>
  );
}
