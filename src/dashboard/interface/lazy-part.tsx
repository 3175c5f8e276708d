import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { lazy } from 'preact-iso';
import { waitToRetry } from '../graphql/retry.ts';
import { useLanguage } from './language.tsx';
import { PageFrame } from './page-frame.tsx';
import { Refusal } from './refusal.tsx';

type Load = () => Promise<FunctionComponent>;
type Attempt = 'none' | 'busy' | 'failed' | 'loaded';

/** Makes a page that is loaded when it is first shown. If it cannot be loaded, a notice offers to try again. */
export function lazyPage(load: Load): FunctionComponent {
  return lazyWith(load, true);
}

/** Like {@link lazyPage}, for the content of a frame that is already shown. */
export function lazyPart(load: Load): FunctionComponent {
  return lazyWith(load, false);
}

/**
 * Makes a lazily loaded component. `lazy` remembers a failure as long as the page is open, so it gets a component that
 * tries again.
 */
function lazyWith(load: Load, hasFrame: boolean): FunctionComponent {
  return lazy(() => load().catch(() => retried(load, hasFrame)));
}

function retried(load: Load, hasFrame: boolean): FunctionComponent {
  let Found: FunctionComponent | null = null;
  return function Retried() {
    const [attempt, setAttempt] = useState<Attempt>('none');

    /** Tries to load the component again. @returns whether it is loaded now */
    async function loadAgain(): Promise<boolean> {
      try {
        Found = await load();
        setAttempt('loaded');
        return true;
      } catch {
        return false;
      }
    }
    async function retry(): Promise<void> {
      setAttempt('busy');
      if (await loadAgain()) return;
      // The service answers, but not with this file: it has a new version, or this browser remembers the failure. The
      // address contains the state of the page, so a reload loses nothing.
      if (await isReachable()) location.reload();
      else setAttempt('failed');
    }
    // Tries again after short interruptions without a click. It never reloads the page by itself, because a missing
    // file would cause endless reloads.
    useEffect(() => {
      let isOver = false;
      async function wait(): Promise<void> {
        for (let attempts = 0; !isOver && !Found; attempts++) {
          await waitToRetry(attempts);
          if (!isOver) await loadAgain();
        }
      }
      void wait();
      return () => {
        isOver = true;
      };
    }, []);
    if (Found) return <Found />;
    return <Unloaded attempt={attempt} hasFrame={hasFrame} onRetry={() => void retry()} />;
  };
}

interface UnloadedProps {
  readonly attempt: Attempt;
  readonly hasFrame: boolean;
  readonly onRetry: () => void;
}

function Unloaded({ attempt, hasFrame, onRetry }: UnloadedProps) {
  const { texts } = useLanguage();
  const { title, under, again } = texts.unloaded;
  const isBusy = attempt === 'busy';
  const notice = (
    <section class="card notice" aria-busy={isBusy}>
      <h1>{title}</h1>
      <p>{under}</p>
      <button type="button" class="primary" aria-disabled={isBusy} onClick={() => isBusy || onRetry()}>
        {again}
      </button>
      <Refusal why={attempt === 'failed' ? 'unreachable' : null} />
    </section>
  );
  return hasFrame ? <PageFrame title={title}>{notice}</PageFrame> : notice;
}

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(location.href, { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
