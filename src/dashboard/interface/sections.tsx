import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Icon, type IconName } from './icon.tsx';

export interface Section {
  readonly icon: IconName;
  readonly name: string;
  readonly href: string;
  /** Whether only this exact address belongs to the section; default: also all addresses below it. */
  readonly exact?: boolean;
  /** An address that belongs to the section with all below it, though it is not below that of the section. */
  readonly also?: string;
  /** Whether the link leads outside this program, so that its router leaves it to the browser. */
  readonly apart?: boolean;
}

/**
 * Shows the links to the sections, in groups. On a phone they are one scrolling line, in which the current section is
 * scrolled into view.
 */
export function Sections({ label, groups }: { label: string; groups: readonly (readonly Section[])[] }) {
  const { path } = useLocation();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (!nav.current || !current) return;
    const [line, link] = [nav.current.getBoundingClientRect(), current.getBoundingClientRect()];
    nav.current.scrollBy({ left: link.left + link.width / 2 - (line.left + line.width / 2) });
  }, [path]);
  return (
    <nav class="sections" aria-label={label} ref={nav}>
      {groups.map((group) => (
        <div key={group[0]?.href}>
          {group.map(({ icon, name, href, apart, ...place }) => (
            <a
              key={href}
              href={href}
              aria-current={isCurrent(path, { href, ...place }) ? 'page' : undefined}
              {...(apart && { target: '_blank', rel: 'noopener' })}
            >
              <Icon name={icon} />
              {name}
            </a>
          ))}
        </div>
      ))}
    </nav>
  );
}

function isCurrent(path: string, { href, exact, also }: Pick<Section, 'href' | 'exact' | 'also'>): boolean {
  if (exact) return path === href;
  return path.startsWith(href) || (also !== undefined && path.startsWith(also));
}
