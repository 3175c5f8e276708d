/** The style of the element. `light-dark` follows the page's `color-scheme`. */
export const STYLE = `
:host {
  --ink: light-dark(#16211d, #eceff0);
  --soft: light-dark(#5c6762, #a3aeb3);
  --line: light-dark(#dfddd4, #2d363d);
  --wait: light-dark(#1f4f8a, #8fbdf5);
  --good: light-dark(#0b5d45, #6ad0aa);
  --bad: light-dark(#a12a20, #ff9c90);
  display: block;
}
:host([hidden]), [hidden] { display: none !important; }
section {
  padding: 1.25em;
  border: 1px solid var(--line);
  border-radius: .75em;
  background: light-dark(#fffefb, #191f25);
  color: var(--ink);
  line-height: 1.5;
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
  text-align: start;
}
p { margin: 0; }
[part=test] {
  margin-bottom: 1em;
  padding: .5em .75em;
  border-radius: .5em;
  background: light-dark(#fbf0d2, #2f2713);
  color: light-dark(#6f4a00, #f3c66b);
  font-size: .9em;
}
[part=seller] { font-weight: 600; }
[part=title], [part=label], [part=meaning], [part=connection] { color: var(--soft); }
[part=amount] { font-size: 1.75em; font-weight: 500; line-height: 1.3; }
[part=label], [part=connection], [part=reason] { font-size: .9em; }
[part~=status] { --tone: var(--wait); margin-top: 1em; }
[part~=accepted] { --tone: var(--good); }
[part~=rejected], [part~=refused] { --tone: var(--bad); }
[part~=refused], [part~=loading] { margin-top: 0; }
[part=headline] { color: var(--tone); font-weight: 600; }
[part=headline]:not(:empty)::before {
  content: "";
  display: inline-block;
  width: .6em;
  height: .6em;
  margin-inline-end: .5em;
  border-radius: 50%;
  background: currentColor;
}
[part=reason] { margin-top: .5em; padding-inline-start: .75em; border-inline-start: 3px solid var(--bad); }
[part=documents] { display: flex; flex-wrap: wrap; gap: .5em 1.25em; margin-top: 1em; }
a { color: light-dark(#0b5d45, #6ad0aa); text-underline-offset: .25em; }
a:focus-visible { outline: 3px solid var(--wait); outline-offset: 2px; }
[part=connection]:not(:empty) { margin-top: 1em; }
`;
