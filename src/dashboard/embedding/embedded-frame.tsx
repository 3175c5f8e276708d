import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { ACCENT, EMBED_FONTS } from '../../domain/embedding/appearance.ts';
import { sitesIn } from '../../domain/embedding/frame.ts';
import { readableAccent } from './readable-accent.ts';

/**
 * The frame of a page within a page of another product. The address states its appearance, and it reports its height.
 */
export function EmbeddedFrame({ busy = false, children }: { busy?: boolean; children: ComponentChildren }) {
  useAppearance();
  useToldHeight(useRoute().params.frame ?? '');
  return (
    <main class="embedded" aria-busy={busy}>
      {children}
    </main>
  );
}

/** Applies the font and the accent of the address. Other values are ignored. */
function useAppearance(): void {
  useLayoutEffect(() => {
    const asked = new URLSearchParams(location.search);
    const root = document.documentElement;
    const font = asked.get('font') ?? '';
    if (Object.hasOwn(EMBED_FONTS, font)) root.dataset.font = font;
    const accent = `#${asked.get('accent')}`;
    if (!ACCENT.test(accent)) return;
    root.dataset.accent = accent;
    root.style.setProperty('--brand-light', readableAccent(accent, 'light'));
    root.style.setProperty('--brand-dark', readableAccent(accent, 'dark'));
  }, []);
}

/**
 * Tells the framing page the height of this one, now and after each change: `{ type: 'fatoura:height', height }`, whole
 * CSS pixels. Only a site that may frame this page is told.
 * @param frame the part of the address that names the sites
 */
function useToldHeight(frame: string): void {
  useEffect(() => {
    if (parent === window) return;
    // Without this list a message is addressed to each of the sites, and the browser delivers it to the framing one
    // alone.
    const [framing] = location.ancestorOrigins ?? [];
    const sites = sitesIn(frame).filter((site) => framing === undefined || site === framing);
    let told = 0;
    const observer = new ResizeObserver(() => {
      const height = Math.ceil(document.body.getBoundingClientRect().height);
      if (height === told) return;
      told = height;
      for (const site of sites) parent.postMessage({ type: 'fatoura:height', height }, site);
    });
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [frame]);
}
