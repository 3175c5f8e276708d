import { useLanguage } from '../interface/language.tsx';
import type { Read } from './workspace-context.ts';

interface UnreadProps {
  /** The heading while it is being read, and if that fails. */
  readonly title: string;
  readonly problem: Read<unknown>['problem'];
  /** The text if it cannot be read. */
  readonly failed: string;
}

/** Shown in place of an object that is not read yet, or cannot be read by this person or at the moment. */
export function Unread({ title, problem, failed }: UnreadProps) {
  const { texts } = useLanguage();
  const [heading, under] =
    problem === 'refused' ? [texts.notFound, texts.notFoundUnder] : [title, problem ? failed : texts.loading];
  return (
    <section class="card notice" aria-busy={problem === null} role="status">
      <h1>{heading}</h1>
      <p>{under}</p>
    </section>
  );
}
